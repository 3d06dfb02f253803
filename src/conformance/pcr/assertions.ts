// SPDX-License-Identifier: Apache-2.0
/** The status of a PodCertificateRequest as a whole. */
import type { Condition } from '../../api/request/conditions.ts';
import { fail, pass, skip, unless, type Verdict } from '../case.ts';
import { lastOf, type Snapshot, type Trial } from '../observed-request.ts';
import type { TrialLaw } from '../snapshot.ts';

const KNOWN = ['Issued', 'Denied', 'Failed'];

/** At most one of three, and true (PodCertificateRequestStatus.conditions). */
export const hasOneCondition: TrialLaw = (trial) => {
  const last = lastOf(trial);
  if (last === undefined) return skip(`the API server refused it: ${trial.refusal ?? ''}`);
  const { conditions } = last;
  if (conditions.length === 0) return skip('it was not answered');
  const text = conditions
    .map(({ type, status, reason }) => `${type}=${status} ${reason ?? ''}`)
    .join(', ');
  return conditions.length === 1 && conditions.every(isRight) ? pass(text) : fail(text);
};

function isRight({ type, status, reason, lastTransitionTime }: Condition): boolean {
  return (
    KNOWN.includes(type) &&
    status === 'True' &&
    (reason ?? '') !== '' &&
    lastTransitionTime !== undefined
  );
}

/** Chain and times come together, or not at all. */
export function isWhole(trials: readonly Trial[]): Verdict {
  const wrong = trials.flatMap(({ versions }) => versions.flatMap((each) => faultOf(each) ?? []));
  return unless(wrong[0], `${trials.length} requests`);
}

function faultOf({ state, pem, times = {} }: Snapshot): string | undefined {
  const set = [times.notBefore, times.notAfter, times.beginRefreshAt].filter(
    (each) => each !== undefined,
  );
  if (state === 'issued') {
    return pem !== '' && set.length === 3
      ? undefined
      : `Issued with ${set.length} of 3 times and ${pem === '' ? 'no' : 'a'} chain`;
  }
  return pem === '' && set.length === 0 ? undefined : `${state}, with a chain or times`;
}

/** UnsupportedKeyType is what the API documents for it. */
export function keyTypeReason(trial: Trial): string | undefined {
  const last = lastOf(trial);
  if (last === undefined) return undefined;
  if (last.state !== 'denied') return `refused as ${last.state}, not Denied`;
  const reason = last.conditions[0]?.reason;
  return reason === 'UnsupportedKeyType'
    ? undefined
    : `Denied with reason ${reason ?? ''}, not UnsupportedKeyType`;
}

/** Denied with this reason; issued or left unanswered is wrong. */
export function isDeniedFor(reason: string): TrialLaw {
  return (trial) => {
    const last = lastOf(trial);
    if (last === undefined) return pass(`the API server refused it: ${trial.refusal ?? ''}`);
    if (last.state !== 'denied') return fail(`it is ${last.state}`);
    const found = last.conditions[0]?.reason ?? '';
    return unless(found === reason ? undefined : `Denied, ${found}`, `Denied, ${found}`);
  };
}

/** Denied or failed, for whatever reason. */
export const isDenied: TrialLaw = (trial) => {
  const last = lastOf(trial);
  if (last === undefined) return pass(`the API server refused it: ${trial.refusal ?? ''}`);
  const { reason = '', message = '' } = last.conditions[0] ?? {};
  return last.state === 'denied' ? pass(`${reason}: ${message}`) : fail(`it is ${last.state}`);
};
