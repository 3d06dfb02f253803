// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_MARKED, MARK_REFUSED, RENEWAL_DUE } from '../../../acme-orders/index.ts';
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

/** The Events about the renewal of a certificate, whose status was written. */
export function eventsOfRenewal(
  order: Order,
  before: Order['status']['renewal'] = {},
): readonly EventDetails[] {
  const { reason, message = '', renewAt = '' } = order.status.renewal ?? {};
  const about = { regarding: regardingOf(order), action: 'Renew' } as const;
  const events: EventDetails[] = [];
  const planned = before.renewAt ?? '';
  if (isEarlier(renewAt, planned)) {
    const note = `it is to be renewed at ${renewAt}, and no more at ${planned}`;
    events.push({ ...about, type: 'Normal', reason: 'RenewalMoved', note });
  }
  const type = TOLD.get(reason);
  if (reason !== undefined && type !== undefined && reason !== before.reason)
    events.push({ ...about, type, reason, note: message });
  return events;
}

/** Reasons of a renewal that people and programs wait for. */
const TOLD: ReadonlyMap<string | undefined, EventDetails['type']> = new Map([
  [RENEWAL_DUE, 'Normal'],
  [CERTIFICATE_MARKED, 'Normal'],
  [MARK_REFUSED, 'Warning'],
]);

/** A window that moves by minutes is no news. */
const MOVED_MS = 60 * 60_000;

/** Not where one of them is no time. */
function isEarlier(now: string, before: string): boolean {
  return Date.parse(before) - Date.parse(now) >= MOVED_MS;
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
