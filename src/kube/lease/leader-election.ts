// SPDX-License-Identifier: Apache-2.0
import { SignerError, messageOf } from '#base/errors.ts';
import type { Random } from '#base/ports.ts';
import type { Client } from '../client/client.ts';
import { KubeError } from '../client/kube-error.ts';
import { createReflector, type Reflector, type WatchMetrics } from '../watch/reflector.ts';
import { Elector } from './elector.ts';
import { LeaseRenewer, type LeaseRenewerInit } from './lease-renewer.ts';
import { LEASES, holderOf, type Lease } from './lease.ts';
import type { LeaseMetrics, LeasedShardFilter } from './shard-filter.ts';

export interface LeaderElectionInit extends Omit<
  LeaseRenewerInit,
  'elector' | 'onRelease' | 'onWritten' | 'onStep' | 'metrics'
> {
  readonly random: Random;
  readonly metrics: LeaseMetrics & WatchMetrics;
}

/** TokenReviews and access reviews are created, but never stored. */
const REVIEW = /^\/apis\/auth(?:entication|orization)\.k8s\.io\/v1\/[a-z]*reviews$/;

/** A shard filter that owns every key on the leader, and none elsewhere. */
export interface LeaderElection extends LeasedShardFilter {
  /**
   * Wraps a client so that it writes only while this replica leads. Writes in flight are aborted
   * when that ends. A write of another replica throws SignerError NOT_LEADING (`retry`).
   */
  readonly fenced: (client: Client) => Client;
}

/**
 * Elects a leader by one Lease, as client-go's `leaderelection` does. The other replicas keep their
 * caches warm. A leader that cannot renew stops before another can start, by a monotonic clock that
 * also runs while the process is stopped.
 *
 * Without permission for Leases every replica works, as a single process would. Preconditions keep
 * every write correct, and a warning names the missing permission.
 */
export function createLeaderElection(init: LeaderElectionInit): LeaderElection {
  return new RunningElection(init);
}

class RunningElection implements LeaderElection {
  readonly #init: LeaderElectionInit;
  readonly #listeners: (() => void)[] = [];
  readonly #elector: Elector;
  readonly #watch: Reflector<Lease>;
  readonly #renewer: LeaseRenewer;
  #led = false;
  #otherLeader: string | undefined;
  /** Aborted while this replica does not lead. */
  #term = new AbortController();

  constructor(init: LeaderElectionInit) {
    this.#init = init;
    this.#term.abort(notLeading(init.name));
    this.#elector = new Elector({ ...init, exclusive: false });
    this.#watch = createReflector<Lease>({
      ...init,
      path: LEASES.collection(init.namespace),
      fieldSelector: `metadata.name=${init.name}`,
      onEvent: (_key, now) => this.#renewer.observe(now),
    });
    this.#renewer = new LeaseRenewer({
      ...init,
      elector: this.#elector,
      onRelease: 'release',
      onWritten: (lease) => this.#watch.applyWrite(lease),
      onStep: () => this.#onStep(),
    });
  }

  readonly owns = (): boolean => this.#leads();

  readonly onChange = (listener: () => void): void => {
    this.#listeners.push(listener);
  };

  readonly warnings = (): readonly string[] => {
    const { failure } = this.#renewer;
    if (failure === undefined) return [];
    const { namespace, name } = this.#init;
    const effect = this.#isLeaseless()
      ? '; this replica works without the Lease, as the others may'
      : '';
    return [`Lease ${namespace}/${name}: ${messageOf(failure)}${effect}`];
  };

  readonly renew = (): void => this.#renewer.renew();

  readonly run = async (signal: AbortSignal): Promise<void> => {
    this.#init.metrics.leads(false);
    const watching = new AbortController();
    const watched = this.#watch.run(watching.signal);
    await this.#renewer.run(signal);
    watching.abort();
    await watched;
  };

  // Names each member, because a spread would lose the methods of a class.
  readonly fenced = (client: Client): Client => ({
    stream: (init) => client.stream(init),
    clockOffset: () => client.clockOffset(),
    close: () => client.close(),
    request: (request) => {
      if (request.method === 'GET' || REVIEW.test(request.path)) return client.request(request);
      if (!this.#leads()) return Promise.reject(notLeading(this.#init.name));
      const own = request.signal === undefined ? [] : [request.signal];
      const signal = AbortSignal.any([this.#term.signal, ...own]);
      return client.request({ ...request, signal });
    },
  });

  #leads(): boolean {
    return this.#elector.holds(this.#init.monotonic()) || this.#isLeaseless();
  }

  /** Reports whether Leases are forbidden or not served, and no other leader is known. */
  #isLeaseless(): boolean {
    const { failure } = this.#renewer;
    return (
      failure instanceof KubeError &&
      [403, 404].includes(failure.status) &&
      this.#elector.otherHolder(this.#init.monotonic()) === undefined
    );
  }

  #onStep(): void {
    this.#logOtherLeader();
    const leads = this.#leads();
    if (leads === this.#led) return;
    this.#led = leads;
    const { metrics, log, name, identity } = this.#init;
    metrics.leads(leads);
    if (leads) this.#term = new AbortController();
    else this.#term.abort(notLeading(name));
    const fields = { lease: name, identity };
    if (leads) log.info(fields, 'lease acquired: this replica is the leader');
    else log.warn(fields, 'lease lost: this replica is no longer the leader');
    for (const listener of this.#listeners) listener();
  }

  #logOtherLeader(): void {
    const { monotonic, log, name } = this.#init;
    const leader = holderOf(this.#elector.otherHolder(monotonic())?.spec);
    if (leader !== undefined && leader !== this.#otherLeader) {
      log.info({ lease: name, leader }, 'lease is held by another replica, waiting');
    }
    this.#otherLeader = leader;
  }
}

function notLeading(name: string): SignerError {
  return new SignerError({
    code: 'NOT_LEADING',
    disposition: 'retry',
    message: `this replica does not hold Lease ${name}; only the leader writes`,
  });
}
