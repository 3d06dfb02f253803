// SPDX-License-Identifier: Apache-2.0

/**
 * Returns PromQL for a gauge that only the leader updates. A replica that loses its Lease shows its
 * last values until it restarts, so those of standbys are left out. A component without Leases has
 * no series `countersign_leader` and counts.
 *
 * @param gauge - a selector
 */
export function ofLeader(gauge: string): string {
  return `(${gauge} unless on (namespace, component, instance) countersign_leader == 0)`;
}
