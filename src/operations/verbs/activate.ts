// SPDX-License-Identifier: Apache-2.0
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { successorAwaitedSince } from '#ca/rotation/requested-rotation.ts';
import {
  tooManyRetiring,
  managedAuthorityOf,
  notPropagated,
  notObserved,
  noBundle,
} from '../preflight.ts';
import {
  impossible,
  type ChangePlan,
  annotationTime,
  replacedScheduleNotes,
} from '../change-plan.ts';
import { authoritiesOf, type SignerState } from '../signer-state.ts';
import { resolveFingerprint } from '../resolve-fingerprint.ts';

/**
 * Plans `activate`, after which the prepared CA signs. With `--force` it writes the request even if
 * the CA may not sign yet. The authority component then creates, publishes and waits as needed.
 * @param wanted - the CA that the user expects to be prepared: its fingerprint or a prefix
 */
export function activate(state: SignerState, wanted: string | undefined): ChangePlan {
  const managed = managedAuthorityOf(state);
  if (typeof managed === 'string') return impossible(managed);
  const { now } = state;
  const all = authoritiesOf(state);
  const next = all.find(({ phase }) => phase === 'Prepared');
  const problem =
    wanted === undefined ? undefined : unexpectedAuthority(state, wanted, next?.fingerprint);
  if (problem !== undefined) return impossible(problem);
  if (next !== undefined && !all.some(({ phase }) => phase === 'Active')) {
    const notes = [
      `nothing to do: ${next.fingerprint} signs as soon as every kubelet has its anchor`,
    ];
    return { target: next.fingerprint, preflightErrors: [], notes };
  }
  const missing = `no CA is prepared; ${howToPrepare(state)}`;
  return {
    ...(next === undefined ? {} : { target: next.fingerprint }),
    change: { annotations: { [ROTATE_AT]: annotationTime(now) } },
    preflightErrors: [
      ...notObserved(state),
      ...noBundle(state),
      ...(next === undefined
        ? [{ message: missing }, ...tooManyRetiring(state, managed)]
        : notPropagated(state, next)),
    ],
    notes: [
      ...replacedScheduleNotes(state, ROTATE_AT),
      'the previous CA stays in the bundle until its last leaf has expired',
    ],
  };
}

/**
 * Returns the next step. A user who has just requested a successor should wait, not request it
 * again.
 */
function howToPrepare(state: SignerState): string {
  const { signer, now } = state;
  const { name } = signer.metadata;
  const since = successorAwaitedSince(signer, authoritiesOf(state), parseTime(annotationTime(now)));
  if (since !== undefined) {
    return `a successor was requested at ${formatTime(since)} and does not exist yet; countersign authority show ${name} prints what it waits for`;
  }
  return `run countersign authority prepare ${name} first, so that every kubelet has the anchor before the CA signs`;
}

/** Returns the problem if the user expects another CA than the one that would sign. */
function unexpectedAuthority(
  state: SignerState,
  wanted: string,
  next: string | undefined,
): string | undefined {
  const found = resolveFingerprint(state, wanted);
  if ('problem' in found) return found.problem;
  if (found.fingerprint === next) return undefined;
  return next === undefined
    ? `${found.fingerprint} is not prepared; no CA is`
    : `${found.fingerprint} is not prepared; the prepared CA is ${next}`;
}
