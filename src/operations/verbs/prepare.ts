// SPDX-License-Identifier: Apache-2.0
import { PREPARE_AT } from '#api/signer/rotation-annotations.ts';
import { tooManyRetiring, managedAuthorityOf, notObserved } from '../preflight.ts';
import {
  impossible,
  type ChangePlan,
  annotationTime,
  replacedScheduleNotes,
} from '../change-plan.ts';
import { authoritiesOf, successorDelayNotes, type SignerState } from '../signer-state.ts';

/**
 * Plans `prepare`, after which the authority component creates and publishes a successor. It keeps
 * the successor until you activate it or a rotation is due.
 */
export function prepare(state: SignerState): ChangePlan {
  const managed = managedAuthorityOf(state);
  if (typeof managed === 'string') return impossible(managed);
  const { signer, now } = state;
  const next = authoritiesOf(state).find(({ phase }) => phase === 'Prepared');
  if (next !== undefined) {
    const notes = [`${next.fingerprint} is already prepared`];
    return { target: next.fingerprint, preflightErrors: [], notes };
  }
  return {
    change: { annotations: { [PREPARE_AT]: annotationTime(now) } },
    preflightErrors: [...notObserved(state), ...tooManyRetiring(state, managed)],
    notes: [
      ...replacedScheduleNotes(state, PREPARE_AT),
      `the authority component creates a successor in the same Secret and publishes it; countersign authority show ${signer.metadata.name} prints when it may sign`,
      ...successorDelayNotes(state),
    ],
  };
}
