// SPDX-License-Identifier: Apache-2.0
import { createRendezvousHash } from '#kube/lease/rendezvous-hash.ts';
import { createAgenda, createCores, type Cores } from './agenda.ts';
import { EVENTS_PER_REQUEST, IN_FLIGHT, type Costs } from './costs.ts';

export interface Plan {
  readonly costs: Costs;
  /**
   * Cores of the API server. etcd stores on one of its own, each replica has one, and a ledger two
   * with its database.
   */
  readonly apiCores: number;
  /** Groups of replicas, each with signer names of its own. */
  readonly shards: number;
  /** In each shard. */
  readonly replicas: number;
  /** When each request is created, microseconds, ascending. */
  readonly arrivals: readonly number[];
  /** One replica is killed then, and its Lease has so long to run; microseconds. */
  readonly kill?: { readonly at: number; readonly lease: number };
}

/** Who has cores in the model. */
export type Part = 'replicas' | 'ledger' | 'API server' | 'etcd';

/** A ledger has a thread for its database beside its own, and PostgreSQL a process. */
const LEDGER_CORES = 2;

export interface Result {
  /** When each request had its certificate, microseconds, as `arrivals`. */
  readonly done: readonly number[];
  /** Of the cores that did most, the part of the time that they were busy. */
  readonly busiest: { readonly name: Part; readonly part: number };
}

interface Replica {
  readonly name: string;
  readonly cores: Cores;
  queue: number[];
  inFlight: number;
  isDead: boolean;
}

/**
 * Requests, replicas that share them as ours do, and the API server and etcd that take the writes.
 */
export function simulate(plan: Plan): Result {
  const { costs, arrivals, kill } = plan;
  const agenda = createAgenda();
  const api = createCores(plan.apiCores);
  const etcd = createCores(1);
  const ledger = createCores(LEDGER_CORES);
  const done = arrivals.map(() => NaN);
  const shards = Array.from({ length: plan.shards }, (_value, shard) =>
    Array.from({ length: plan.replicas }, (_none, index) => replica(`shard-${shard}-${index}`)),
  );
  let shares = shards.map((all) => createRendezvousHash(all.map(({ name }) => name)));
  const ownerOf = (request: number): Replica => {
    const shard = request % plan.shards;
    const name = shares[shard]?.(`request-${request}`);
    return shards[shard]?.find((each) => each.name === name) as Replica;
  };

  function arrive(request: number): void {
    const shard = shards[request % plan.shards] ?? [];
    const owner = ownerOf(request);
    for (const each of shard) {
      if (each !== owner) each.cores.take(agenda.now(), costs.hear * EVENTS_PER_REQUEST);
    }
    owner.queue.push(request);
    work(owner);
  }

  function work(one: Replica): void {
    if (one.isDead || one.inFlight >= IN_FLIGHT) return;
    const request = one.queue.shift();
    if (request === undefined) return;
    one.inFlight += 1;
    agenda.at(one.cores.take(agenda.now(), costs.issue), () => record(one, request));
    work(one);
  }

  function record(one: Replica, request: number): void {
    if (costs.record === 0) write(one, request);
    else agenda.at(ledger.take(agenda.now(), costs.record), () => write(one, request));
  }

  function write(one: Replica, request: number): void {
    // A killed replica's last words are not sent; whoever has its share starts again.
    if (one.isDead) {
      one.queue.push(request);
      return;
    }
    const told = costs.tell * EVENTS_PER_REQUEST * plan.replicas;
    agenda.at(api.take(agenda.now(), costs.write + told), () => {
      agenda.at(etcd.take(agenda.now(), costs.store), () => {
        done[request] = agenda.now();
        one.inFlight -= 1;
        work(one);
      });
    });
  }

  /** The members change: what was the dead one's is its heirs'. */
  function inherit(dead: Replica): void {
    const left = (shards[0] ?? []).filter((each) => each !== dead);
    shares = [createRendezvousHash(left.map(({ name }) => name)), ...shares.slice(1)];
    for (const request of dead.queue.splice(0)) {
      const heir = ownerOf(request);
      heir.queue.push(request);
      work(heir);
    }
  }

  arrivals.forEach((time, request) => agenda.at(time, () => arrive(request)));
  const dead = shards[0]?.[0];
  if (kill !== undefined && dead !== undefined) {
    agenda.at(kill.at, () => (dead.isDead = true));
    agenda.at(kill.at + kill.lease, () => inherit(dead));
  }
  agenda.run();
  const end = agenda.now();
  const part = (cores: Cores, count: number): number => cores.taken() / count / end;
  const mostOf = Math.max(...shards.flat().map((each) => part(each.cores, 1)));
  const all = [
    { name: 'replicas', part: mostOf },
    { name: 'ledger', part: part(ledger, LEDGER_CORES) },
    { name: 'API server', part: part(api, plan.apiCores) },
    { name: 'etcd', part: part(etcd, 1) },
  ] as const;
  return { done, busiest: all.reduce((most, each) => (each.part > most.part ? each : most)) };
}

function replica(name: string): Replica {
  return { name, cores: createCores(1), queue: [], inFlight: 0, isDead: false };
}
