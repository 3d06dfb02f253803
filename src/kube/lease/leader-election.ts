// SPDX-License-Identifier: Apache-2.0
import { SignerError, messageOf } from '../../errors.ts';
import type { Random } from '../../ports.ts';
import type { Client } from '../client/client.ts';
import type { LeaseMetrics, LeasedShardFilter } from './shard-filter.ts';
import { createElector } from './elector.ts';
import { KubeError } from '../client/kube-error.ts';
import { createLeaseRenewer, type LeaseRenewerInit } from './lease-renewer.ts';
import { LEASES, holderOf, type Lease } from './lease.ts';
import { createReflector, type WatchMetrics } from '../watch/reflector.ts';

export interface LeaderElectionInit extends Omit<
  LeaseRenewerInit,
  'election' | 'end' | 'observe' | 'onStep' | 'metrics'
> {
  readonly random: Random;
  readonly metrics: LeaseMetrics & WatchMetrics;
}

/** The work that one replica at a time is to do. */
export interface LeaderElection extends LeasedShardFilter {
  /** A client that writes only while this replica leads; its writes under way are cut off at the end. */
  readonly fenced: (client: Client) => Client;
}

/**
 * One Lease, and whoever holds it leads; the others wait with warm caches. A leader that cannot renew
 * stops before others may begin, by a clock that no one sets, and that a stop of the process does not
 * stop.
 *
 * Without the right to Leases everybody works, as one process alone would: the fences of each write
 * keep that right, and a warning says so.
 */
export function createLeaderElection(init: LeaderElectionInit): LeaderElection {
  const { monotonic, log, metrics, namespace, name, identity } = init;
  const listeners: (() => void)[] = [];
  const election = createElector({ ...init, sole: false });
  let led = false;
  let holder: string | undefined;
  let term = new AbortController();
  term.abort(notLeading(name));

  /** Nobody is known to lead, and we may not. */
  function isExcused(): boolean {
    return (
      standing.failure instanceof KubeError &&
      [403, 404].includes(standing.failure.status) &&
      election.heldByAnother(monotonic()) === undefined
    );
  }

  function leads(): boolean {
    return election.holds(monotonic()) || isExcused();
  }

  function tell(): void {
    tellHolder();
    const now = leads();
    if (now === led) return;
    led = now;
    metrics.leads(now);
    if (now) term = new AbortController();
    else term.abort(notLeading(name));
    const fields = { lease: name, identity };
    if (now) log.info(fields, 'this replica leads: it does the work');
    else log.warn(fields, 'this replica leads no longer: it waits with warm caches');
    for (const listener of listeners) listener();
  }

  function tellHolder(): void {
    const now = holderOf(election.heldByAnother(monotonic())?.spec);
    if (now !== undefined && now !== holder) {
      log.info({ lease: name, leader: now }, 'another replica leads: this one waits');
    }
    holder = now;
  }

  const watch = createReflector<Lease>({
    ...init,
    path: LEASES.collection(namespace),
    fieldSelector: `metadata.name=${name}`,
    onEvent: (_key, now) => standing.saw(now),
  });
  const standing = createLeaseRenewer({
    ...init,
    election,
    end: 'release',
    observe: (lease) => watch.applyWrite(lease),
    onStep: tell,
  });

  return {
    owns: leads,
    onChange: (listener) => {
      listeners.push(listener);
    },
    warnings: () =>
      standing.failure === undefined
        ? []
        : [
            `Lease ${namespace}/${name}: ${messageOf(standing.failure)}${isExcused() ? '; this replica works without it, beside others' : ''}`,
          ],
    run: async (signal) => {
      metrics.leads(false);
      const watching = new AbortController();
      const watched = watch.run(watching.signal);
      await standing.run(signal);
      watching.abort();
      await watched;
    },
    fenced: (client) => ({
      ...client,
      request: (request) => {
        if (request.method === 'GET') return client.request(request);
        if (!leads()) return Promise.reject(notLeading(name));
        const signals = [term.signal, ...(request.signal === undefined ? [] : [request.signal])];
        return client.request({ ...request, signal: AbortSignal.any(signals) });
      },
    }),
  };
}

function notLeading(name: string): SignerError {
  return new SignerError({
    code: 'NOT_LEADING',
    disposition: 'retry',
    message: `this replica does not hold Lease ${name}: whoever does writes`,
  });
}
