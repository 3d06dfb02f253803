// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { EventDetails } from '../../kube/events/body.ts';
import type { ReconcileResult } from '../../kube/workqueue/run-loop.ts';

/** The result of reconciling one request. */
export interface RequestOutcome {
  /**
   * `ignored` is not reported; `waiting` is retried with backoff; `undecided` is reconciled again only when
   * the request or its ClusterSigner changes.
   */
  readonly outcome:
    'ignored' | 'waiting' | 'undecided' | 'approved' | 'issued' | 'denied' | 'failed';
  /** CamelCase, of a small fixed set: it becomes a metric label. */
  readonly reason: string;
  readonly message?: string;
  /** For a waiting request: the cause that it shares with other waiting requests, if any. */
  readonly sharedBy?: 'signer' | 'server' | undefined;
  /** The Event for the people concerned; absent if the success is evident. */
  readonly event?: Omit<EventDetails, 'regarding' | 'related'>;
  /** When to reconcile again, if not as the outcome implies. */
  readonly again?: Later;
  /** The request as returned by a write that did not end it. */
  readonly changed?: KubeObject;
  /** The request as returned by the write that ended it; a stale read must not follow. */
  readonly written?: KubeObject;
}

/**
 * When a request is reconciled again: only when it, its signer or the CA behind the signer changes; at a
 * time; or with backoff, but no later than a time (milliseconds).
 */
export type Later = 'on-change' | Exclude<ReconcileResult, 'backoff' | undefined>;

/**
 * The Event that says what the leaf of a request has less than was asked for: a name that vanishes silently is found
 * where the certificate is used.
 *
 * @param withheld - what it does not get
 */
export function lessThanRequested(
  action: 'Approve' | 'Sign',
  withheld: string,
): NonNullable<RequestOutcome['event']> {
  const note = `the certificate has less than the request asks for: ${withheld}`;
  return { type: 'Warning', reason: 'LessThanRequested', action, note };
}
