// SPDX-License-Identifier: Apache-2.0
import type { Schedulable } from '#acme/orders/turns/line-up.ts';
import { ChallengeScheduler } from '#acme/orders/turns/scheduler.ts';

const MINUTE = 60_000;

/** A Challenge of a namespace. */
export interface Tenant {
  readonly namespace: string;
  readonly name: string;
  readonly arrivesAt: number;
  /** How long what it presents must stand before it is seen; Infinity: it is never proved. */
  readonly provesAfter: number;
  readonly signer?: string;
  /** How long its proof takes to be taken down. */
  readonly cleanUp?: number;
}

/** When each was proved, by the number of the tenant; undefined: never. */
export type Proved = readonly (number | undefined)[];

/**
 * Tenants whose Challenges share the slots, on a clock of minutes: those that yield take their
 * proof down, and wait again.
 *
 * @param until - when the simulation ends
 * @param limits - slots by signer
 */
export function simulateTenants(
  tenants: readonly Tenant[],
  slots: number,
  until: number,
  limits: Readonly<Record<string, number>> = {},
): Proved {
  const scheduler = new ChallengeScheduler(slots);
  for (const [signer, most] of Object.entries(limits)) scheduler.limit(signer, most);
  const proved: (number | undefined)[] = tenants.map(() => undefined);
  const startedAt = new Map<string, number>();
  const releasedAt = new Map<string, number>();
  const all = tenants.map((tenant, index) => ({ ...tenant, ...schedulable(tenant, index) }));
  for (let now = 0; now <= until; now += MINUTE) {
    for (const each of all) if (each.arrivesAt === now) scheduler.add(each);
    for (const [index, { id, provesAfter }] of all.entries()) {
      const since = startedAt.get(id);
      if (since === undefined || releasedAt.has(id) || now - since < provesAfter) continue;
      proved[index] = now;
      startedAt.delete(id);
      scheduler.remove(id);
    }
    for (const each of all) {
      const at = releasedAt.get(each.id);
      if (at === undefined || at > now) continue;
      releasedAt.delete(each.id);
      startedAt.delete(each.id);
      scheduler.remove(each.id);
      start(scheduler, startedAt, now);
      scheduler.add(each);
    }
    start(scheduler, startedAt, now);
    for (const id of scheduler.yields(now)) {
      const { cleanUp = MINUTE } = all.find((each) => each.id === id) ?? {};
      releasedAt.set(id, now + cleanUp);
    }
    if (startedAt.size > slots) throw new Error('more run than there are slots');
  }
  return proved;
}

function start(scheduler: ChallengeScheduler, startedAt: Map<string, number>, now: number): void {
  for (let next = scheduler.next(now); next.length > 0; next = scheduler.next(now))
    for (const { id } of next) startedAt.set(id, now);
}

function schedulable({ namespace, name, signer, arrivesAt }: Tenant, index: number): Schedulable {
  return {
    id: `c${index}`,
    order: `o${index}`,
    namespace,
    name,
    type: 'dns-01',
    signer: signer ?? `${namespace}/own`,
    createdAt: arrivesAt,
  };
}
