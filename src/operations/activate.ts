// SPDX-License-Identifier: Apache-2.0
import { ROTATE_AT } from '../api/signer/rotation-annotations.ts';
import { formatTime, parseTime } from '../api/object/time.ts';
import { awaitedSince } from '../rotation/asked.ts';
import { crowded, managedOf, notSpread, unheard, unpublished } from './objections.ts';
import { orderTime } from './order-time.ts';
import { never, type Order } from './order.ts';
import { planned } from './planned.ts';
import { authoritiesOf, type Situation } from './situation.ts';
import { findTarget } from './target.ts';

/**
 * `activate`: the prepared CA signs from now on. With `--force` the order stands although it cannot
 * be carried out yet: authority then makes, publishes and waits for whatever is missing.
 *
 * @param wanted - the CA that the user takes to be the prepared one: its fingerprint, or its beginning
 */
export function activate(situation: Situation, wanted: string | undefined): Order {
  const managed = managedOf(situation);
  if (typeof managed === 'string') return never(managed);
  const { now } = situation;
  const all = authoritiesOf(situation);
  const next = all.find(({ phase }) => phase === 'Prepared');
  const problem =
    wanted === undefined ? undefined : otherThan(situation, wanted, next?.fingerprint);
  if (problem !== undefined) return never(problem);
  if (next !== undefined && !all.some(({ phase }) => phase === 'Active')) {
    const notes = [`${next.fingerprint} signs by itself as soon as every kubelet has its anchor`];
    return { target: next.fingerprint, objections: [], notes };
  }
  const missing = `nothing is prepared: ${howToPrepare(situation)}`;
  return {
    ...(next === undefined ? {} : { target: next.fingerprint }),
    change: { annotations: { [ROTATE_AT]: orderTime(now) } },
    objections: [
      ...unheard(situation),
      ...unpublished(situation),
      ...(next === undefined
        ? [{ message: missing }, ...crowded(situation, managed)]
        : notSpread(situation, next)),
    ],
    notes: [
      ...planned(situation, ROTATE_AT),
      'the CA that signed until then stays in the bundle while leaves of it live',
    ],
  };
}

/** Who has ordered it a moment ago is not to order it again. */
function howToPrepare(situation: Situation): string {
  const { signer, now } = situation;
  const { name } = signer.metadata;
  const since = awaitedSince(signer, authoritiesOf(situation), parseTime(orderTime(now)));
  if (since !== undefined) {
    return `a successor was asked for at ${formatTime(since)}, and is not there yet: countersign authority show ${name} tells when it is and what it waits for`;
  }
  return `countersign authority prepare ${name} first, so that every kubelet has the anchor before it is needed`;
}

/** Whether the user has another CA in mind than the one that would sign. */
function otherThan(
  situation: Situation,
  wanted: string,
  next: string | undefined,
): string | undefined {
  const found = findTarget(situation, wanted);
  if ('problem' in found) return found.problem;
  if (found.fingerprint === next) return undefined;
  return `${found.fingerprint} is not prepared; ${next ?? 'no CA'} is`;
}
