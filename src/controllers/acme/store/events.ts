// SPDX-License-Identifier: Apache-2.0
import type { Challenge, Order } from '../../../api/acme/index.ts';
import type { EventDetails } from '../../../kube/events/body.ts';

/** What a status of an Order or a Challenge shows. */
interface Shown {
  readonly state?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** The Event about an Order whose status was written; undefined where nothing ended, and nothing is wrong. */
export function eventOfOrder(order: Order, before: Order['status']): EventDetails | undefined {
  const { status, metadata } = order;
  const regarding = regardingOf(order);
  if (status.certificate !== undefined && before.certificate === undefined)
    return {
      regarding,
      type: 'Normal',
      reason: 'Issued',
      action: 'Order',
      note: `the certificate of ${status.url ?? 'the order'} is here`,
    };
  return metadata.deletionTimestamp === undefined
    ? warningOf(regarding, status, before, 'Order')
    : undefined;
}

/**
 * The Event about a Challenge whose status was written; undefined where nothing is wrong. Challenges come and go in
 * hundreds: what goes as it should is said of their Order.
 */
export function eventOfChallenge(
  challenge: Challenge,
  before: Challenge['status'],
): EventDetails | undefined {
  return warningOf(regardingOf(challenge), challenge.status, before, 'Prove');
}

/** The Event about a revocation whose status was written; undefined where nothing new is to be told. */
export function eventOfRevocation(
  order: Order,
  before: Order['status']['revocation'],
): EventDetails | undefined {
  const { revocation } = order.status;
  const regarding = regardingOf(order);
  if (revocation === undefined) return undefined;
  if (revocation.state === 'revoked') {
    const note = `the CA has revoked the certificate (${revocation.asked ?? 'unspecified'})`;
    return { regarding, type: 'Normal', reason: 'Revoked', action: 'Revoke', note };
  }
  const told = revocation.state === before?.state ? before : {};
  return warningOf(regarding, revocation, told, 'Revoke');
}

/** A reason that is new; one that is repeated, with another wait or text, is not. */
function warningOf(
  regarding: EventDetails['regarding'],
  { reason, message = '' }: Shown,
  before: Shown,
  action: string,
): EventDetails | undefined {
  if (reason === undefined || reason === before.reason) return undefined;
  return { regarding, type: 'Warning', reason, action, note: message };
}

function regardingOf({
  apiVersion,
  kind,
  metadata: { name, namespace = '', uid },
}: Order | Challenge): EventDetails['regarding'] {
  return { apiVersion, kind, name, namespace, uid };
}
