// SPDX-License-Identifier: Apache-2.0
/** Whether, how and how fast a request was answered. */
import { fail, pass, skip, unless, type Verdict } from '../case.ts';
import { unansweredText } from '../issued-leaf.ts';
import { endText, firstOf, lastOf, type Trial } from '../observed-request.ts';
import type { Around, TrialLaw } from '../snapshot.ts';

/** How a request was refused, by the API server or the signer; undefined where it was not. */
export function refusedText(trial: Trial): string | undefined {
  if (trial.refusal !== undefined) return `the API server refused it: ${trial.refusal}`;
  const last = lastOf(trial);
  if (last?.state !== 'denied' && last?.state !== 'failed') return undefined;
  return `refused: ${endText(last)}`;
}

const NOT_APPROVED = 'nobody approved it, and the kit may not';

/** PodCertificateRequests have no approval. */
function needsApproval({ asked }: Trial): boolean {
  return asked.pod === undefined;
}

export const isAnswered: TrialLaw = (trial) => {
  const last = lastOf(trial);
  if (last === undefined) return fail(`the API server refused it: ${trial.refusal ?? ''}`);
  const answer = firstOf(trial, 'issued');
  if (answer !== undefined) return pass(`issued ${answer.at} ms after its creation`);
  if (last.state === 'denied' || last.state === 'failed') return fail(`it was ${endText(last)}`);
  if (needsApproval(trial) && last.state === 'pending') return skip(NOT_APPROVED);
  return fail(unansweredText(trial));
};

/** Issued with its key, or refused in words; what the profile lists must be issued. */
export function respectsKeyType(reasonOf?: (trial: Trial) => string | undefined): TrialLaw {
  return (trial, { profile }) => {
    const { keyType } = trial.asked;
    const listed = keyType !== undefined && profile.keyTypes?.includes(keyType);
    const refused = refusedText(trial);
    if (refused !== undefined) {
      if (listed === true) return fail(`the profile lists ${keyType}: ${refused}`);
      return unless(reasonOf?.(trial), refused);
    }
    return issuedKeyType(trial, listed);
  };
}

function issuedKeyType(trial: Trial, listed: boolean | undefined): Verdict {
  const name = trial.asked.keyType ?? 'such a key';
  if (firstOf(trial, 'issued') === undefined) {
    const idle = needsApproval(trial) && lastOf(trial)?.state === 'pending';
    return idle ? skip(NOT_APPROVED) : fail(unansweredText(trial));
  }
  if (listed === false) return fail(`issued, although the profile does not list ${name}`);
  return pass(`issued for ${name}`);
}

/** Condition text for people: a request that ends says why. */
export const saysWhy: TrialLaw = (trial) => {
  const last = lastOf(trial);
  if (last?.state !== 'denied' && last?.state !== 'failed') return skip('it was not refused');
  const mute = last.conditions.filter(
    ({ type, reason, message }) =>
      ['Denied', 'Failed'].includes(type) && ((reason ?? '') === '' || (message ?? '') === ''),
  );
  return unless(
    mute.length === 0
      ? undefined
      : `${mute.map(({ type }) => type).join()} without reason or message`,
    endText(last),
  );
};

/** Milliseconds from the moment when the signer could begin; undefined where it did not answer. */
export function latencyOf(trial: Trial): number | undefined {
  const issued = firstOf(trial, 'issued');
  if (issued === undefined) return undefined;
  const begun = firstOf(trial, 'approved') ?? trial.versions[0];
  return Math.max(0, issued.at - (begun?.at ?? 0));
}

/** Each certificate, within the profile's latency. */
export function areFast(
  trials: readonly Trial[],
  { profile: { latency } }: Pick<Around, 'profile'>,
): Verdict {
  const times = trials.flatMap((trial) => latencyOf(trial) ?? []).sort((a, b) => a - b);
  const worst = times.at(-1);
  if (worst === undefined) return skip('nothing was issued');
  const median = times[Math.floor(times.length / 2)] ?? worst;
  const text = `${times.length} certificates: median ${median} ms, worst ${worst} ms`;
  return worst <= latency * 1000 ? pass(text) : fail(`${text}, more than ${latency} s`);
}

/** All of those that were made at once. */
export function allAnswered(trials: readonly Trial[]): Verdict {
  const idle = trials.filter((each) => needsApproval(each) && lastOf(each)?.state === 'pending');
  if (idle.length === trials.length) return skip(NOT_APPROVED);
  const issued = trials.filter((trial) => firstOf(trial, 'issued') !== undefined).length;
  const text = `${issued} of ${trials.length} issued`;
  return issued === trials.length ? pass(text) : fail(text);
}
