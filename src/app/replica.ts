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
import { leaderLease, leaseLabels, type LeasePlace } from '../runtime/component/leases.ts';
import { createLeaderMetrics, createShareMetrics } from '../web/replica-metrics.ts';
import type { Metrics } from '../web/metrics.ts';
import { memberName } from './member-name.ts';
import { monotonic } from './monotonic.ts';
import { leaderTimes, memberTimes } from '../kube/lease/lease.ts';

/** Components of which one replica works: CA Secrets and bundles have one writer. */
const LED: readonly string[] = ['attester', 'authority'];

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
  /** Where Leases are taken; undefined: none are. */
  readonly leaseNamespace: string | undefined;
  readonly leaseSeconds: number;
  readonly secretNamespace: string;
  readonly inCluster: boolean;
  readonly isReady: () => boolean;
}

/** This process among the replicas of its component. */
export interface Replica {
  readonly shard: ShardFilter;
  /** The client of the controller: of a component that is led it writes only while this replica leads. */
  readonly client: Client;
  readonly leases: LeasePlace | undefined;
  readonly run: LeasedShardFilter['run'];
  readonly warnings: LeasedShardFilter['warnings'];
}

export function createReplica(init: ReplicaInit): Replica {
  const { name, client, leaseNamespace: namespace, secretNamespace, log } = init;
  if (namespace === undefined) {
    log.info({}, 'no Leases are taken: this process does all the work (--lease-namespace)');
    const run = (): Promise<void> => Promise.resolve();
    return { shard: SINGLE_REPLICA, client, leases: undefined, run, warnings: () => [] };
  }
  const common = {
    ...init,
    monotonic,
    namespace,
    labels: leaseLabels(name, secretNamespace),
    identity: `${hostname()}_${randomBytes(4).toString('hex')}`,
  };
  const leases = { namespace, secretNamespaces: [secretNamespace] };
  if (LED.includes(name)) {
    const leadership = createLeaderElection({
      ...common,
      name: leaderLease(name, secretNamespace),
      times: leaderTimes(init.leaseSeconds),
      metrics: { ...init.metrics, ...leaderMetrics(init.registry) },
    });
    return { ...leadership, shard: leadership, client: leadership.fenced(client), leases };
  }
  const membership = createShardMembership({
    ...common,
    name: memberName(name, init.inCluster ? hostname() : undefined, init.random),
    times: memberTimes(init.leaseSeconds),
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
    shares: (count, part) => {
      members.set(count);
      share.set(part);
    },
    leaseFailed: () => leaseFailures.inc(),
  };
}
