// SPDX-License-Identifier: Apache-2.0

/** What one certificate costs, in microseconds of one core. */
export interface Costs {
  /** Of a replica: decide, sign, write and take in the answer. */
  readonly issue: number;
  /** Of a replica: read a watch event about a request that is another's. */
  readonly hear: number;
  /** Of the API server: admit, validate and store one status, without those who watch it. */
  readonly write: number;
  /** Of the API server: send one event to one watch. */
  readonly tell: number;
  /** Of etcd, which stores one write after another. */
  readonly store: number;
}

/**
 * `issue`, `write` and `store` as `make bench` measured them on two cores
 * (bench/results/drain.json: own CPU, the status writer's API server, etcd). `tell` and `hear` are
 * taken from what a status writer that is fed by a watch loses against one that is not (6 to 8 %,
 * design §6), halved between sender and reader.
 */
export const MEASURED: Costs = { issue: 1_230, hear: 50, write: 1_390, tell: 50, store: 340 };

/** A request is created, gets its status and is deleted; its watch hears of each. */
export const EVENTS_PER_REQUEST = 3;
/** In flight at once, for each replica: its workers. */
export const IN_FLIGHT = 24;
