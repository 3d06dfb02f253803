// SPDX-License-Identifier: Apache-2.0
/** What a signer writes, how often, and what it keeps its hands off. */
import { sameBytes } from '../../bytes.ts';
import { skip, unless, type Verdict } from '../case.ts';
import { issuedOf, isVerdict, readChain } from '../issued-leaf.ts';
import { firstOf, lastOf, type Trial } from '../observed-request.ts';
import type { TrialLaw } from '../snapshot.ts';

/** Nobody but the kit has written it. */
export const isUntouched: TrialLaw = (trial) => {
  if (trial.refusal !== undefined) return skip(`the API server refused it: ${trial.refusal}`);
  const states = [...new Set(trial.versions.map(({ state }) => state))].join(', then ');
  const others =
    new Set(trial.versions.map((each) => each.resourceVersion)).size - 1 - trial.ownWrites;
  return unless(
    others <= 0 ? undefined : `${others} foreign writes; it was ${states}`,
    `no write but the kit's; it is ${lastOf(trial)?.state ?? 'gone'}`,
  );
};

/** Without an approval the signer waits. Where somebody approves by rules there is nothing to see. */
export const waitsForApproval: TrialLaw = (trial, around) => {
  if (firstOf(trial, 'approved') !== undefined) return skip('somebody else approved it');
  if (lastOf(trial)?.state === 'denied') return skip('somebody denied it');
  return isUntouched(trial, around);
};

/** In no version a certificate without the approval before it. */
export const issuesOnlyApproved: (trials: readonly Trial[]) => Verdict = (trials) => {
  const wrong = trials.filter(({ versions }) =>
    versions.some(({ pem, conditions }) => pem !== '' && !isApproved(conditions)),
  );
  const issued = trials.filter((trial) => firstOf(trial, 'issued') !== undefined).length;
  return unless(
    wrong.length === 0 ? undefined : `${wrong.length} certificates without Approved`,
    `${issued} certificates, all approved`,
  );
};

function isApproved(conditions: readonly { type: string; status: string }[]): boolean {
  return conditions.some(({ type, status }) => type === 'Approved' && status === 'True');
}

/** A refusal that has a certificate all the same is both. */
export function refusesWithoutCertificate(trials: readonly Trial[]): Verdict {
  const wrong = trials.filter(({ versions }) =>
    versions.some(
      ({ pem, conditions }) =>
        pem !== '' && conditions.some(({ type }) => type === 'Denied' || type === 'Failed'),
    ),
  );
  return unless(
    wrong.length === 0 ? undefined : `${wrong.length} refused requests have a certificate`,
    `none of ${trials.length} requests is refused and has a certificate`,
  );
}

/** The request that has its answer is not written again while the kit looks. */
export const restsWhenAnswered: TrialLaw = (trial) => {
  const answer = trial.versions.findIndex(({ state }) => ENDED.has(state));
  if (answer === -1) return skip('it was not answered');
  const after = trial.versions.length - 1 - answer;
  return unless(after === 0 ? undefined : `${after} writes after the answer`, 'not written again');
};

const ENDED: ReadonlySet<string> = new Set(['issued', 'denied', 'failed']);

/** Every write costs the API server, etcd and every watcher the same again. */
export const answersInOneWrite: TrialLaw = (trial) => {
  if (!trial.watched) return skip('the kit may not watch, so that a version can have been missed');
  const answer = trial.versions.findIndex(({ state }) => ENDED.has(state));
  if (answer === -1) return skip('it was not answered');
  const approval = trial.versions.findIndex(({ state }) => state === 'approved');
  const from = approval === -1 ? 0 : approval;
  const writes = answer - from;
  return unless(writes === 1 ? undefined : `${writes} writes`, 'one write');
};

/** Spec, labels, annotations, finalizers and owners stay the requester's. */
export const leavesFrame: TrialLaw = (trial) => {
  const frames = new Set(trial.versions.map(({ frame }) => frame));
  const [first, second] = frames;
  return unless(
    second === undefined ? undefined : `changed: ${difference(first ?? '', second)}`,
    'as the requester wrote them',
  );
};

function difference(before: string, after: string): string {
  const [a, b] = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>);
  const keys = Object.keys({ ...a, ...b });
  const changed = keys.filter((key) => JSON.stringify(a?.[key]) !== JSON.stringify(b?.[key]));
  return changed.map((key) => `${key} became ${JSON.stringify(b?.[key])}`).join('; ');
}

/** RFC 5280 §4.1.2.2: unique for each CA. */
export function haveSerialsOfTheirOwn(trials: readonly Trial[]): Verdict {
  const serials = trials.flatMap((trial) => {
    const pem = firstOf(trial, 'issued')?.pem;
    const chain = pem === undefined ? '' : readChain(pem);
    return typeof chain === 'string' ? [] : [Buffer.from(chain[0]?.serial ?? []).toString('hex')];
  });
  if (serials.length < 2) return skip('fewer than two certificates were issued');
  const different = new Set(serials).size;
  return unless(
    different === serials.length ? undefined : `${different} serials in ${serials.length} leaves`,
    `${different} different serials`,
  );
}

/** Two requests with the same bytes are two requests. */
export function isNewCertificate(trial: Trial, other: Trial): Verdict {
  const [a, b] = [issuedOf(trial), issuedOf(other)];
  if (isVerdict(a)) return a;
  if (isVerdict(b)) return b;
  const same = sameBytes(a.leaf.serial, b.leaf.serial);
  return unless(same ? 'both leaves have the same serial' : undefined, 'two leaves, two serials');
}
