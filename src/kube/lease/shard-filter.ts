// SPDX-License-Identifier: Apache-2.0

/** Which part of the work is this replica's. It saves work: what keeps writes right is their fences. */
export interface ShardFilter {
  /** Whether the work on the object with this UID (or other key) is this replica's now. Cheap. */
  readonly owns: (key: string) => boolean;
  /** Called after what is this replica's may have changed. */
  readonly onChange: (listener: () => void) => void;
}

/** Of a process that is alone. */
export const SINGLE_REPLICA: ShardFilter = { owns: () => true, onChange: () => undefined };

/** A duty that is kept up to date by Leases. */
export interface LeasedShardFilter extends ShardFilter {
  /** Takes part until `signal` is aborted, then gives back what it holds, and resolves. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** What somebody should mend; the work goes on all the same. */
  readonly warnings: () => readonly string[];
}

/** What is counted of Leases. */
export interface LeaseMetrics {
  /** Whether this replica does the work that only one is to do. */
  leads(leads: boolean): void;
  /** Replicas that share the work, and this one's part of it, from 0 to 1. */
  shares(members: number, part: number): void;
  /** A Lease could not be read, taken or renewed. */
  leaseFailed(): void;
}
