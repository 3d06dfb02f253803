// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object.ts';
import type { EventNote } from '../kube/event-body.ts';

/** What a look at one request came to. */
export interface Outcome {
  /**
   * `ignored` leaves no trace; `waiting` is looked at again with backoff; `undecided` only when the
   * request or its ClusterSigner changes.
   */
  readonly outcome:
    'ignored' | 'waiting' | 'undecided' | 'approved' | 'issued' | 'denied' | 'failed';
  /** CamelCase, of a small fixed set: it becomes a metric label. */
  readonly reason: string;
  readonly message?: string;
  /** Of what waits: who else waits for the same thing, if anybody does. */
  readonly sharedBy?: 'signer' | 'server' | undefined;
  /** Told to the people concerned; absent where success speaks for itself. */
  readonly event?: Omit<EventNote, 'regarding' | 'related'>;
  /** The request as the write that ended it left it; no stale read of it may follow. */
  readonly written?: KubeObject;
}
