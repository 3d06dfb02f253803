// SPDX-License-Identifier: Apache-2.0
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { EventDetails } from '../../kube/events/body.ts';
import type { Component } from '../component/component.ts';
import type { FoundFault } from '../component/serving-state.ts';
import { Overrun, PutOff } from './put-off.ts';

/** Whose Events in other namespaces than `default` the component may write. */
export type EventScope = 'cluster' | 'everywhere';

/** CamelCase, of the Event about a signer one of whose expressions takes too long. */
const OVERRUN = 'CelOverrun';

/**
 * Says of a signer that its own expressions or patterns keep requests waiting: in its condition Served, through
 * `authority`, and in an Event. Without the permission to write Events in its namespace, the Event about the request is
 * all there is.
 *
 * @param error - why a request of the signer waits; anything but an {@link Overrun} or a spent budget is ignored
 */
export function tellSlow(
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
    ...{ reason, note },
    regarding: referenceTo(signer),
    type: 'Warning',
    action: 'Evaluate',
  });
}

function faultOf(error: unknown, { metadata }: SignerObject): FoundFault | undefined {
  if (error instanceof Overrun) {
    const { message, where, code } = error;
    // Whoever makes a request chooses what is evaluated: one that takes too long does not show that none is answered.
    return { reason: OVERRUN, message, stops: code === 'CEL_COST', expression: where };
  }
  if (!(error instanceof PutOff) || error.reason !== 'CelBudgetSpent') return undefined;
  const { reason, message, dearest } = error;
  const isOwn = dearest?.signer === metadata.name;
  return { reason, message, stops: false, ...(isOwn ? { expression: dearest.where } : {}) };
}

function referenceTo({ apiVersion, kind, metadata }: SignerObject): EventDetails['regarding'] {
  const { name, namespace, uid } = metadata;
  return { apiVersion, kind, name, uid, ...(namespace === undefined ? {} : { namespace }) };
}
