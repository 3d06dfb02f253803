// SPDX-License-Identifier: Apache-2.0
import { PREPARE_AT } from '../api/signer/rotation-annotations.ts';
import { crowded, managedOf, unheard } from './objections.ts';
import { orderTime } from './order-time.ts';
import { never, type Order } from './order.ts';
import { planned } from './planned.ts';
import { settling } from './settled.ts';
import { authoritiesOf, type Situation } from './situation.ts';

/** `prepare`: a successor is made and published, and held until it is activated or due. */
export function prepare(situation: Situation): Order {
  const managed = managedOf(situation);
  if (typeof managed === 'string') return never(managed);
  const { signer, now } = situation;
  const next = authoritiesOf(situation).find(({ phase }) => phase === 'Prepared');
  if (next !== undefined) {
    const notes = [`${next.fingerprint} is prepared already`];
    return { target: next.fingerprint, objections: [], notes };
  }
  return {
    change: { annotations: { [PREPARE_AT]: orderTime(now) } },
    objections: [...unheard(situation), ...crowded(situation, managed)],
    notes: [
      ...planned(situation, PREPARE_AT),
      `authority makes a successor in the same Secret and publishes it; countersign authority show ${signer.metadata.name} says when it may sign`,
      ...settling(situation),
    ],
  };
}
