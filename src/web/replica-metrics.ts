// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';

/** The series of a component whose replicas share their work. */
export interface ShareMetrics {
  readonly members: Gauge;
  readonly share: Gauge;
  readonly leaseFailures: Counter;
}

/** The series of a component of which one replica leads. */
export interface LeaderMetrics {
  readonly leader: Gauge;
  readonly leaseFailures: Counter;
}

export function createShareMetrics(registry: Registry): ShareMetrics {
  const registers = [registry];
  return {
    members: new Gauge({
      name: 'countersign_members',
      help: 'Replicas that share the work, as seen by this replica; 0 until the Leases are read.',
      registers,
    }),
    share: new Gauge({
      name: 'countersign_share_ratio',
      help: 'Fraction of the work that this replica does, from 0 to 1.',
      registers,
    }),
    leaseFailures: leaseFailures(registers),
  };
}

export function createLeaderMetrics(registry: Registry): LeaderMetrics {
  const registers = [registry];
  return {
    leader: new Gauge({
      name: 'countersign_leader',
      help: '1 while this replica is the leader, 0 while it is on standby with warm caches.',
      registers,
    }),
    leaseFailures: leaseFailures(registers),
  };
}

function leaseFailures(registers: Registry[]): Counter {
  return new Counter({
    name: 'countersign_lease_failures_total',
    help: 'Failed attempts to read, acquire or renew a Lease.',
    registers,
  });
}
