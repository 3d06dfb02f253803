// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '#kube/client/client.ts';
import {
  SINGLE_REPLICA,
  type ShardFilter,
  type LeaseMetrics,
  type LeasedShardFilter,
} from '#kube/lease/shard-filter.ts';
import { createLeaderElection } from '#kube/lease/leader-election.ts';
import { createShardMembership } from '#kube/lease/shard-membership.ts';
import type { WatchMetrics } from '#kube/watch/reflector.ts';
import type { Clock, Delay, Log, Random } from '#base/ports.ts';
import { leaderLease, leaseLabels, memberLease, type LeasePlace } from '#component/leases.ts';
import type { SeriesRecorder } from '#component/metric.ts';
import { LEADER_SERIES, SHARE_SERIES } from '#component/web/process-metrics.ts';
import { leaderTimes, peerTimes } from '#kube/lease/lease.ts';
import { monotonic } from './process.ts';

export interface ReplicaInit {
  /** The subcommand. */
  readonly name: string;
  /** True if one replica leads. */
  readonly leads: boolean;
  readonly client: Client;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WatchMetrics;
  readonly series: SeriesRecorder;
  /** Namespace of the Leases. Undefined if this process takes none. */
  readonly leaseNamespace: string | undefined;
  readonly leaseSeconds: number;
  readonly secretNamespace: string;
  readonly inCluster: boolean;
  readonly isReady: () => boolean;
  /** Returns the annotations for each renewal of this process's Lease. */
  readonly annotations: () => Readonly<Record<string, string>>;
}

/** This process as a replica of its component. */
export interface Replica {
  readonly shard: ShardFilter;
  /** The client of the controller. With leader election it writes only while this replica leads. */
  readonly client: Client;
  readonly leases: LeasePlace | undefined;
  readonly run: LeasedShardFilter['run'];
  readonly renew: LeasedShardFilter['renew'];
  readonly warnings: LeasedShardFilter['warnings'];
}

/** Joins the leader election or the shard membership of the component. */
export function createReplica(init: ReplicaInit): Replica {
  const { name, client, leaseNamespace: namespace, secretNamespace, log } = init;
  if (namespace === undefined) {
    log.info({}, 'leases are off: this process does all the work (see --lease-namespace)');
    const run = (): Promise<void> => Promise.resolve();
    const none = { renew: () => undefined, warnings: () => [] };
    return { ...none, shard: SINGLE_REPLICA, client, leases: undefined, run };
  }
  const common = {
    ...init,
    monotonic,
    namespace,
    labels: leaseLabels(name, secretNamespace),
    identity: `${hostname()}_${randomBytes(4).toString('hex')}`,
  };
  const leases = { namespace, secretNamespaces: [secretNamespace] };
  if (init.leads) {
    const election = createLeaderElection({
      ...common,
      name: leaderLease(name, secretNamespace),
      times: leaderTimes(init.leaseSeconds),
      metrics: { ...init.metrics, ...leaderMetrics(init.series) },
    });
    return { ...election, shard: election, client: election.fenced(client), leases };
  }
  const membership = createShardMembership({
    ...common,
    name: memberLease(name, init.inCluster ? hostname() : undefined, init.random),
    times: peerTimes(init.leaseSeconds),
    metrics: { ...init.metrics, ...shareMetrics(init.series) },
  });
  return { ...membership, shard: membership, client, leases };
}

function leaderMetrics(series: SeriesRecorder): LeaseMetrics {
  const { leader, leaseFailures } = series.of(LEADER_SERIES);
  return {
    leads: (leads) => leader.set({}, Number(leads)),
    shares: () => undefined,
    leaseFailed: () => leaseFailures.inc({}),
  };
}

function shareMetrics(series: SeriesRecorder): LeaseMetrics {
  const { members, share, leaseFailures } = series.of(SHARE_SERIES);
  return {
    leads: () => undefined,
    shares: (replicas, part) => {
      members.set({}, replicas);
      share.set({}, part);
    },
    leaseFailed: () => leaseFailures.inc({}),
  };
}
