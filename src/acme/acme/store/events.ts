// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_MARKED, MARK_REFUSED, RENEWAL_DUE } from '#acme/orders/index.ts';
import { WAITING_FOR_CHALLENGE, WAITING_FOR_TURN } from '#acme/orders/status.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import type { Order } from '#api/acme/order.ts';
import type { EventDetails } from '#kube/events/body.ts';
import * as messages from '../messages.ts';

/** Fields of a status that Events depend on. */
interface ReportedStatus {
  readonly state?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/**
 * Returns the Event for an Order's written status. Returns undefined if nothing ended or failed.
 */
export function eventOfOrder(order: Order, before: Order['status']): EventDetails | undefined {
  const { status, metadata } = order;
  const regarding = regardingOf(order);
  if (status.certificate !== undefined && before.certificate === undefined)
    return {
      regarding,
      type: 'Normal',
      reason: 'Issued',
      action: 'Order',
      note: messages.downloaded(status.url),
    };
  // The Challenge has its own Event.
  return metadata.deletionTimestamp === undefined && status.reason !== WAITING_FOR_CHALLENGE
    ? warningOf(regarding, status, before, 'Order')
    : undefined;
}

/**
 * Returns the Event for a Challenge's written status. Returns undefined without a problem:
 * Challenges are many, and their success shows in the Order's Event.
 */
export function eventOfChallenge(
  challenge: Challenge,
  before: Challenge['status'],
): EventDetails | undefined {
  // Turns come without any action.
  if (challenge.status.reason === WAITING_FOR_TURN) return undefined;
  return warningOf(regardingOf(challenge), challenge.status, before, 'Prove');
}

/** Returns the Event for a revocation's written status. Returns undefined without a change. */
export function eventOfRevocation(
  order: Order,
  before: Order['status']['revocation'],
): EventDetails | undefined {
  const { revocation } = order.status;
  const regarding = regardingOf(order);
  if (revocation === undefined) return undefined;
  if (revocation.state === 'revoked') {
    const note = messages.revoked(revocation.asked);
    return { regarding, type: 'Normal', reason: 'Revoked', action: 'Revoke', note };
  }
  const told = revocation.state === before?.state ? before : {};
  return warningOf(regarding, revocation, told, 'Revoke');
}

/** Returns the Events for the written status of a renewal. */
export function eventsOfRenewal(
  order: Order,
  before: Order['status']['renewal'] = {},
): readonly EventDetails[] {
  const { reason, message = '', renewAt = '' } = order.status.renewal ?? {};
  const about = { regarding: regardingOf(order), action: 'Renew' } as const;
  const events: EventDetails[] = [];
  const planned = before.renewAt ?? '';
  if (isEarlier(renewAt, planned)) {
    const note = messages.renewalMoved(planned, renewAt);
    events.push({ ...about, type: 'Normal', reason: 'RenewalMoved', note });
  }
  const type = REPORTED_REASONS.get(reason);
  if (reason !== undefined && type !== undefined && reason !== before.reason)
    events.push({ ...about, type, reason, note: message });
  return events;
}

/** Reasons of a renewal that get an Event, with its type. People and programs wait for them. */
const REPORTED_REASONS: ReadonlyMap<string | undefined, EventDetails['type']> = new Map([
  [RENEWAL_DUE, 'Normal'],
  [CERTIFICATE_MARKED, 'Normal'],
  [MARK_REFUSED, 'Warning'],
]);

/** Smallest change of a window that gets an Event. */
const MOVED_MS = 60 * 60_000;

/** Reports whether the time is earlier by that much. Returns false if one is not a time. */
function isEarlier(now: string, before: string): boolean {
  return Date.parse(before) - Date.parse(now) >= MOVED_MS;
}

/** Returns a warning for a new reason. A repeated reason with another wait or text gets none. */
function warningOf(
  regarding: EventDetails['regarding'],
  { reason, message = '' }: ReportedStatus,
  before: ReportedStatus,
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
