// SPDX-License-Identifier: Apache-2.0
import type { ChallengeObjectStatus, ChallengeSpec } from '#api/acme/challenge.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import type { OrderCallName, OrderMemory, ServerOrder } from './memory.ts';
import {
  isFinalChallenge,
  isFinalOrder,
  UNAUTHORIZED,
  WAITING_FOR_CHALLENGE,
  waitsUntil,
} from './status.ts';

/** Next action for an Order: one call, one object, or a wait. */
export type OrderStep =
  | { readonly step: 'newOrder'; readonly replaces: boolean }
  | { readonly step: 'readOrder' | 'readAccount' }
  | { readonly step: 'finalize'; readonly url: string }
  | { readonly step: 'readAuthorization'; readonly url: string }
  | { readonly step: 'createChallenge'; readonly authorization: string }
  | { readonly step: 'download'; readonly url: string }
  | { readonly step: 'cleanUp' }
  /** A Challenge of the Order ended without proof. */
  | { readonly step: 'giveUp'; readonly challenge: ChildChallenge }
  /** A change of a Challenge ends the wait earlier. Without a time, only such a change ends it. */
  | { readonly step: 'wait'; readonly until?: number; readonly for?: ChildChallenge }
  | { readonly step: 'done' };

/** A Challenge of the Order. */
export interface ChildChallenge {
  readonly metadata: { readonly name: string };
  readonly spec: Pick<ChallengeSpec, 'authorizationURL' | 'dnsName'>;
  readonly status: ChallengeObjectStatus;
}

/** Input of the decision on an Order's next step. */
export interface OrderView {
  readonly status: OrderObjectStatus;
  readonly memory: OrderMemory;
  readonly challenges: readonly ChildChallenge[];
  /** Whether the Order names a certificate that it replaces. */
  readonly replaces: boolean;
  /** Whether the Order is deleted, or its request is gone or changed. */
  readonly abandoned: boolean;
}

/**
 * Returns the next step of an Order (RFC 8555 §7.1.6). A new process reads the server's state
 * before it repeats any call. Only newOrder cannot be read.
 *
 * @param now - milliseconds since 1970
 */
export function nextOrderStep(view: OrderView, now: number): OrderStep {
  const { status, memory, challenges, abandoned } = view;
  if (abandoned || isFinalOrder(status))
    return { step: challenges.length > 0 ? 'cleanUp' : 'done' };
  const until = ownWait(status, now);
  if (until !== undefined) return { step: 'wait', until };
  if (status.reason === UNAUTHORIZED && !memory.accountIsValid) return { step: 'readAccount' };
  if (status.url === undefined)
    return { step: 'newOrder', replaces: view.replaces && status.replacesRefused !== true };
  return memory.server === undefined ? { step: 'readOrder' } : serverStep(view, memory.server);
}

/** Returns the end of the Order's wait. The wait of a Challenge does not delay it. */
function ownWait(status: OrderObjectStatus, now: number): number | undefined {
  return status.reason === WAITING_FOR_CHALLENGE ? undefined : waitsUntil(status, now);
}

/**
 * Returns the step for the server's state. `invalid` is already final, unless the status was not
 * written.
 */
function serverStep(
  view: OrderView,
  { status, authorizations, finalize, certificate }: ServerOrder,
): OrderStep {
  if (status === 'pending') return pendingStep(view, authorizations);
  if (status === 'ready') return { step: 'finalize', url: finalize };
  return status === 'valid' && certificate !== undefined
    ? { step: 'download', url: certificate }
    : { step: 'readOrder' };
}

/** Returns the call that a reading of the server's order leads to, if it leads to one. */
export function callAfterReading(
  status: OrderObjectStatus,
  server: ServerOrder,
): Extract<OrderCallName, 'readAuthorization' | 'finalize' | 'download'> | undefined {
  if (server.status === 'pending') {
    const unread = unreadAuthorization(status, server.authorizations);
    return unread === undefined ? undefined : 'readAuthorization';
  }
  if (server.status === 'ready') return 'finalize';
  return server.status === 'valid' && server.certificate !== undefined ? 'download' : undefined;
}

function unreadAuthorization(
  { authorizations = [] }: OrderObjectStatus,
  ofServer: readonly string[],
): string | undefined {
  const known = new Set(authorizations.map(({ url }) => url));
  return ofServer.find((url) => !known.has(url));
}

function pendingStep({ status, challenges }: OrderView, ofServer: readonly string[]): OrderStep {
  const { authorizations = [] } = status;
  const unread = unreadAuthorization(status, ofServer);
  if (unread !== undefined) return { step: 'readAuthorization', url: unread };
  const failed = challenges.find(
    ({ status: { state } }) => isFinalChallenge(state) && state !== 'valid',
  );
  if (failed !== undefined) return { step: 'giveUp', challenge: failed };
  const ofUrl = new Map(challenges.map((each) => [each.spec.authorizationURL, each]));
  const toProve = authorizations.filter(({ wasValid = false }) => !wasValid);
  const without = toProve.find(({ url }) => !ofUrl.has(url));
  if (without !== undefined) return { step: 'createChallenge', authorization: without.url };
  // All challenges have ended: the server's order follows, at once or a little later.
  const open = toProve
    .map(({ url }) => ofUrl.get(url))
    .filter((each) => each !== undefined && each.status.state !== 'valid');
  if (open.length === 0) return { step: 'readOrder' };
  const hindered = open.find((each) => each?.status.reason !== undefined);
  return { step: 'wait', ...(hindered === undefined ? {} : { for: hindered }) };
}
