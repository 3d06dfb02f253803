// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import * as messages from './messages.ts';

/** The result of reconciling one request. */
export interface RequestOutcome {
  /**
   * `ignored` is not reported. `waiting` is retried with backoff. `undecided` is reconciled again
   * only when the request or its ClusterSigner changes.
   */
  readonly outcome:
    'ignored' | 'waiting' | 'undecided' | 'approved' | 'issued' | 'denied' | 'failed';
  /** CamelCase, of a small fixed set, since it becomes a metric label. */
  readonly reason: string;
  readonly message?: string;
  /** The cause that a waiting request shares with others, if any. */
  readonly sharedBy?: 'signer' | 'server' | undefined;
  /** The Event for the users concerned, absent if the success is evident. */
  readonly event?: Omit<EventDetails, 'regarding' | 'related'>;
  /** Time of the next reconciliation, if the outcome does not imply it. */
  readonly again?: Later;
  /** The request as returned by a write that did not end it. */
  readonly changed?: KubeObject;
  /** The request as returned by the write that ended it. A stale read must not follow. */
  readonly written?: KubeObject;
}

/**
 * Trigger of the next reconciliation: a change of the request, its signer or the CA, a time, or
 * backoff with a limit (milliseconds).
 */
export type Later = 'on-change' | Exclude<ReconcileResult, 'backoff' | undefined>;

/** The request stays unchanged, and nothing is reported. */
export const IGNORED: RequestOutcome = { outcome: 'ignored', reason: '' };

/**
 * Returns the outcome of a delivery.
 *
 * @param omitted - text on what the leaf omits of the request
 */
export function issued(written: KubeObject, omitted?: string): RequestOutcome {
  const less = omitted === undefined ? {} : { event: lessThanRequested('Sign', omitted) };
  return { outcome: 'issued', reason: 'Issued', written, ...less };
}

/**
 * Returns the Event on what a leaf omits of its request. A name that vanished silently would be
 * noticed only where the certificate is used.
 *
 * @param omitted - text on the omitted parts
 */
export function lessThanRequested(
  action: 'Approve' | 'Sign',
  omitted: string,
): NonNullable<RequestOutcome['event']> {
  const note = messages.omissions(omitted);
  return { type: 'Warning', reason: 'LessThanRequested', action, note };
}
