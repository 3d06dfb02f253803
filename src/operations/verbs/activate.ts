// SPDX-License-Identifier: Apache-2.0
import { ROTATE_AT } from '../../api/signer/rotation-annotations.ts';
import { formatTime, parseTime } from '../../api/object/time.ts';
import { successorAwaitedSince } from '../../rotation/requested-rotation.ts';
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
 * `activate`: the prepared CA signs from now on. With `--force` the order stands although it cannot
 * be carried out yet: authority then makes, publishes and waits for whatever is missing.
 *
 * @param wanted - the CA that the user takes to be the prepared one: its fingerprint, or its beginning
 */
export function activate(state: SignerState, wanted: string | undefined): ChangePlan {
  const managed = managedAuthorityOf(state);
  if (typeof managed === 'string') return impossible(managed);
  const { now } = state;
  const all = authoritiesOf(state);
  const next = all.find(({ phase }) => phase === 'Prepared');
  const problem = wanted === undefined ? undefined : otherThan(state, wanted, next?.fingerprint);
  if (problem !== undefined) return impossible(problem);
  if (next !== undefined && !all.some(({ phase }) => phase === 'Active')) {
    const notes = [`${next.fingerprint} signs by itself as soon as every kubelet has its anchor`];
    return { target: next.fingerprint, preflightErrors: [], notes };
  }
  const missing = `nothing is prepared: ${howToPrepare(state)}`;
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
      'the CA that signed until then stays in the bundle while leaves of it live',
    ],
  };
}

/** Who has ordered it a moment ago is not to order it again. */
function howToPrepare(state: SignerState): string {
  const { signer, now } = state;
  const { name } = signer.metadata;
  const since = successorAwaitedSince(signer, authoritiesOf(state), parseTime(annotationTime(now)));
  if (since !== undefined) {
    return `a successor was asked for at ${formatTime(since)}, and is not there yet: countersign authority show ${name} tells when it is and what it waits for`;
  }
  return `countersign authority prepare ${name} first, so that every kubelet has the anchor before it is needed`;
}

/** Whether the user has another CA in mind than the one that would sign. */
function otherThan(
  state: SignerState,
  wanted: string,
  next: string | undefined,
): string | undefined {
  const found = resolveFingerprint(state, wanted);
  if ('problem' in found) return found.problem;
  if (found.fingerprint === next) return undefined;
  return `${found.fingerprint} is not prepared; ${next ?? 'no CA'} is`;
}
