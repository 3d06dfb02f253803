// SPDX-License-Identifier: Apache-2.0

/**
 * Selects the objects that this replica reconciles. It avoids double work. Writes are correct
 * without it, because each has a resourceVersion precondition.
 */
export interface ShardFilter {
  /** Reports whether this replica reconciles the object with this UID (or other key) now. Cheap. */
  readonly owns: (key: string) => boolean;
  /** Calls `listener` after the shard of this replica may have changed. */
  readonly onChange: (listener: () => void) => void;
}

/** The filter of a process without other replicas: it owns every key. */
export const SINGLE_REPLICA: ShardFilter = { owns: () => true, onChange: () => undefined };

/** A filter that Leases keep up to date. */
export interface LeasedShardFilter extends ShardFilter {
  /** Takes part until `signal` is aborted, then releases its Lease and resolves. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Renews the Lease soon, because its annotations have changed. */
  readonly renew: () => void;
  /** Returns problems that an operator should solve. The component works in spite of them. */
  readonly warnings: () => readonly string[];
}

/** Receives the counts about Leases. */
export interface LeaseMetrics {
  /** Reports whether this replica is the leader. */
  leads(leads: boolean): void;
  /** Reports how many replicas share the work, and this replica's share, from 0 to 1. */
  shares(replicas: number, share: number): void;
  /** Counts a Lease that could not be read, acquired or renewed. */
  leaseFailed(): void;
}
