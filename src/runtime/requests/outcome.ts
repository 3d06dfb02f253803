// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { EventDetails } from '../../kube/events/body.ts';
import type { ReconcileResult } from '../../kube/workqueue/run-loop.ts';

/** What a look at one request came to. */
export interface RequestOutcome {
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
  readonly event?: Omit<EventDetails, 'regarding' | 'related'>;
  /** Where it is not looked at again as the outcome has it. */
  readonly again?: Later;
  /** The request as a write left it that did not end it. */
  readonly changed?: KubeObject;
  /** The request as the write that ended it left it; no stale read of it may follow. */
  readonly written?: KubeObject;
}

/**
 * When a request is looked at again: only when it, its signer or what that signs with changes; at a
 * time; or with backoff, yet no later than a time (milliseconds).
 */
export type Later = 'on-change' | Exclude<ReconcileResult, 'backoff' | undefined>;
