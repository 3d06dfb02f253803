// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { Component } from '../contract.ts';
import type { FoundFault } from '../serving-state.ts';
import { EvaluationTimeout, EvaluationDeferred } from './evaluation-errors.ts';

/** The scope of Events: whether the component may write them outside of `default`. */
export type EventScope = 'cluster' | 'everywhere';

/** The CamelCase reason of the Event about a signer with an expression that takes too long. */
const CEL_TIMEOUT = 'CelTimeout';

/**
 * Reports that a signer's own expressions or patterns keep requests waiting: in its condition
 * Served, through `authority`, and in an Event. Without permission to write Events in its
 * namespace, only the Event about the request appears.
 *
 * @param error - why a request of the signer waits. Ignored unless it is an
 *   {@link EvaluationTimeout} or a spent budget.
 */
export function reportSlowSigner(
  { events, serving }: Pick<Component, 'events' | 'serving'>,
  scope: EventScope,
  signer: SignerObject,
  error: unknown,
): void {
  const fault = faultOf(error, signer);
  if (fault === undefined) return;
  const { reason, message: note } = fault;
  serving.report(signer, fault);
  if (isNamespaced(signer) && scope === 'cluster') return;
  events.record({
    reason,
    note,
    regarding: referenceTo(signer),
    type: 'Warning',
    action: 'Evaluate',
  });
}

function faultOf(error: unknown, { metadata }: SignerObject): FoundFault | undefined {
  if (error instanceof EvaluationTimeout) {
    const { message, where, code } = error;
    // The requester chooses what is evaluated. So one request that takes too long does not show
    // that all do.
    return { reason: CEL_TIMEOUT, message, stops: code === 'CEL_COST', expression: where };
  }
  if (!(error instanceof EvaluationDeferred) || error.reason !== 'CelBudgetSpent') return undefined;
  const { reason, message, topSpender } = error;
  const isOwn = topSpender?.signer === metadata.name;
  return { reason, message, stops: false, ...(isOwn ? { expression: topSpender.where } : {}) };
}

function referenceTo({ apiVersion, kind, metadata }: SignerObject): EventDetails['regarding'] {
  const { name, namespace, uid } = metadata;
  return { apiVersion, kind, name, uid, ...(namespace === undefined ? {} : { namespace }) };
}
