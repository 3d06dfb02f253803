// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../api/signer/cluster-signer.ts';
import { hasTrueCondition } from '../api/request/conditions.ts';
import { ROTATE_AT } from '../api/signer/rotation-annotations.ts';
import { parseTime } from '../api/object/time.ts';
import { lastLeafText } from './last-leaf.ts';
import { crowded, managedOf, unheard, unpublished } from './objections.ts';
import { orderTime } from './order-time.ts';
import { never, type Order } from './order.ts';
import { planned } from './planned.ts';
import { settling } from './settled.ts';
import { authoritiesOf, type Situation } from './situation.ts';
import { findTarget } from './target.ts';

/**
 * `taint`: a CA that can no longer be relied upon signs no more as soon as its successor may, and
 * stays trusted, so that nothing breaks while its leaves are replaced. `revoke` ends the trust.
 *
 * @param text - the CA's fingerprint, or its beginning
 */
export function taint(situation: Situation, text: string): Order {
  const found = findTarget(situation, text);
  if ('problem' in found) return never(found.problem);
  const { fingerprint } = found;
  const target = authoritiesOf(situation).find((each) => each.fingerprint === fingerprint);
  if (target === undefined) {
    return never(
      `${fingerprint} is no CA of this ClusterSigner; revoke takes its anchor out of the bundle`,
    );
  }
  if (target.phase === 'Prepared') {
    return never(`${fingerprint} has signed nothing yet: revoke it, and another is made`);
  }
  const notes = [lastLeafText(situation, target)];
  if (target.phase !== 'Active') {
    const done = { Retiring: 'signs no more', Distrusted: 'is distrusted already' }[target.phase];
    return { target: fingerprint, objections: [], notes: [`${fingerprint} ${done}`, ...notes] };
  }
  const order = replaceActive(situation, target);
  return { ...order, target: fingerprint, notes: [...order.notes, ...notes] };
}

function replaceActive(situation: Situation, { fingerprint }: AuthorityStatus): Order {
  const managed = managedOf(situation);
  if (typeof managed === 'string') return never(managed);
  const { now } = situation;
  if (isOrdered(situation)) {
    return { objections: [], notes: [`${fingerprint} is being replaced already`] };
  }
  const beside = authoritiesOf(situation)
    .filter(({ phase }) => phase === 'Prepared')
    .map((each) => each.fingerprint);
  return {
    change: {
      annotations: { [ROTATE_AT]: orderTime(now) },
      ...(beside.length === 0 ? {} : { distrust: beside }),
    },
    objections: [...unheard(situation), ...unpublished(situation), ...crowded(situation, managed)],
    notes: [
      ...planned(situation, ROTATE_AT),
      ...beside.map(
        (each) =>
          `${each}, prepared in the same Secret, is distrusted: whoever has the one key has the other`,
      ),
      `a successor is made and published; ${fingerprint} signs until every kubelet has its anchor (if it must stop this moment: revoke --force)`,
      ...(beside.length === 0 ? settling(situation) : []),
    ],
  };
}

/** Asked for before, and on its way. */
function isOrdered({ signer, now }: Situation): boolean {
  const { metadata, status } = signer;
  const asked = parseTime(metadata.annotations?.[ROTATE_AT] ?? '');
  return asked <= now && hasTrueCondition(status?.conditions, 'RotationDue');
}
