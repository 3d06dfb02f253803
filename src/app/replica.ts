// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '../kube/client/client.ts';
import {
  SINGLE_REPLICA,
  type ShardFilter,
  type LeaseMetrics,
  type LeasedShardFilter,
} from '../kube/lease/shard-filter.ts';
import { createLeaderElection } from '../kube/lease/leader-election.ts';
import { createShardMembership } from '../kube/lease/shard-membership.ts';
import type { WatchMetrics } from '../kube/watch/reflector.ts';
import type { Clock, Delay, Log, Random } from '../ports.ts';
import {
  leaderLease,
  leaseLabels,
  memberLease,
  type LeasePlace,
} from '../runtime/component/leases.ts';
import { createLeaderMetrics, createShareMetrics } from '../web/replica-metrics.ts';
import type { Metrics } from '../web/metrics.ts';
import { leaderTimes, peerTimes } from '../kube/lease/lease.ts';
import { monotonic } from './process.ts';

/** Components with leader election: CA Secrets, bundles, Orders, Challenges, restarts and an installation have one writer. */
const LEADER_ELECTED: readonly string[] = [
  'attester',
  'authority',
  'acme',
  'acme-solver',
  'operator',
  'cert-manager-operator',
  'pod-refresher',
  'ledger',
  'trust-distributor',
  'federation',
  'notifier',
];

export interface ReplicaInit {
  /** The subcommand. */
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WatchMetrics;
  readonly registry: Metrics['registry'];
  /** The namespace of the Leases; undefined if this process takes none. */
  readonly leaseNamespace: string | undefined;
  readonly leaseSeconds: number;
  readonly secretNamespace: string;
  readonly inCluster: boolean;
  readonly isReady: () => boolean;
  /** What this process reports with each renewal of its Lease. */
  readonly annotations: () => Readonly<Record<string, string>>;
}

/** This process as one of the replicas of its component. */
export interface Replica {
  readonly shard: ShardFilter;
  /** The client of the controller. With leader election it writes only while this replica leads. */
  readonly client: Client;
  readonly leases: LeasePlace | undefined;
  readonly run: LeasedShardFilter['run'];
  readonly renew: LeasedShardFilter['renew'];
  readonly warnings: LeasedShardFilter['warnings'];
}

/** Takes part in leader election or shard membership, whichever the component has. */
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
  if (LEADER_ELECTED.includes(name)) {
    const election = createLeaderElection({
      ...common,
      name: leaderLease(name, secretNamespace),
      times: leaderTimes(init.leaseSeconds),
      metrics: { ...init.metrics, ...leaderMetrics(init.registry) },
    });
    return { ...election, shard: election, client: election.fenced(client), leases };
  }
  const membership = createShardMembership({
    ...common,
    name: memberLease(name, init.inCluster ? hostname() : undefined, init.random),
    times: peerTimes(init.leaseSeconds),
    metrics: { ...init.metrics, ...shareMetrics(init.registry) },
  });
  return { ...membership, shard: membership, client, leases };
}

function leaderMetrics(registry: Metrics['registry']): LeaseMetrics {
  const { leader, leaseFailures } = createLeaderMetrics(registry);
  return {
    leads: (leads) => leader.set(Number(leads)),
    shares: () => undefined,
    leaseFailed: () => leaseFailures.inc(),
  };
}

function shareMetrics(registry: Metrics['registry']): LeaseMetrics {
  const { members, share, leaseFailures } = createShareMetrics(registry);
  return {
    leads: () => undefined,
    shares: (replicas, part) => {
      members.set(replicas);
      share.set(part);
    },
    leaseFailed: () => leaseFailures.inc(),
  };
}
