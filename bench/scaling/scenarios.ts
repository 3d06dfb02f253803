// SPDX-License-Identifier: Apache-2.0
import { MEASURED, type Costs } from './costs.ts';
import { simulate, type Result } from './simulate.ts';

const SECOND = 1_000_000;
/** Enough for ends and beginnings not to count. */
const BACKLOG = 10_000;

/** Certificates a second of a backlog, and what was busiest. */
export function drain(
  shape: { readonly apiCores: number; readonly shards: number; readonly replicas: number },
  costs: Costs = MEASURED,
): { readonly perSecond: number; readonly busiest: Result['busiest'] } {
  const arrivals = Array.from({ length: BACKLOG }, () => 0);
  const { done, busiest } = simulate({ ...shape, costs, arrivals });
  return { perSecond: (BACKLOG / Math.max(...done)) * SECOND, busiest };
}

/**
 * What requests wait, in seconds, when one of `replicas` is killed under `rate` requests a second.
 */
export function killed(
  replicas: number,
  leaseSeconds: number,
  rate = 50,
): { readonly affected: number; readonly mean: number; readonly most: number } {
  const seconds = leaseSeconds + 60;
  const arrivals = Array.from(
    { length: rate * seconds },
    (_value, index) => (index * SECOND) / rate,
  );
  const kill = { at: 10 * SECOND, lease: leaseSeconds * SECOND };
  const { done } = simulate({
    costs: MEASURED,
    apiCores: 8,
    shards: 1,
    replicas,
    arrivals,
    kill,
  });
  const waits = done.map((end, index) => (end - (arrivals[index] ?? 0)) / SECOND);
  const meanwhile = waits.filter((_wait, index) => {
    const arrival = arrivals[index] ?? 0;
    return arrival >= kill.at && arrival < kill.at + kill.lease;
  });
  // A request that nobody has to wait for takes milliseconds.
  const affected = meanwhile.filter((wait) => wait > 0.2);
  return {
    affected: affected.length / meanwhile.length,
    mean: affected.reduce((sum, wait) => sum + wait, 0) / affected.length,
    most: Math.max(...affected),
  };
}

/** A fleet of clusters, whose pods renew a leaf when a part of its life is over. */
export interface Fleet {
  readonly clusters: number;
  readonly podsEach: number;
  readonly leafHours: number;
  readonly refreshPercent: number;
}

/** Renewals a second of a quiet day, in each cluster. */
export function renewals({ podsEach, leafHours, refreshPercent }: Fleet): number {
  return podsEach / ((leafHours * 3_600 * refreshPercent) / 100);
}

/**
 * Hours that nobody may sign before the first leaf expires, and minutes that a cluster then takes
 * to renew what is overdue, beside what goes on falling due.
 */
export function outage(
  fleet: Fleet,
  perSecond: number,
): { readonly hours: number; readonly overdue: number; readonly minutes: number } {
  const hours = (fleet.leafHours * (100 - fleet.refreshPercent)) / 100;
  const rate = renewals(fleet);
  const overdue = Math.min(fleet.podsEach, rate * hours * 3_600);
  return { hours, overdue, minutes: overdue / (perSecond - rate) / 60 };
}
