// SPDX-License-Identifier: Apache-2.0
import {
  isFinalChallenge,
  isFinalOrder,
  UNAUTHORIZED,
  waitsUntil,
  type ChallengeState,
  type OrderMemory,
  type OrderRecord,
  type ServerOrder,
} from './record.ts';

/** What is to be done for an Order now: one call, one object, or to wait. */
export type OrderStep =
  | { readonly step: 'newOrder'; readonly replaces: boolean }
  | { readonly step: 'readOrder' | 'readAccount' }
  | { readonly step: 'finalize'; readonly url: string }
  | { readonly step: 'readAuthorization'; readonly url: string }
  | { readonly step: 'createChallenge'; readonly authorization: string }
  | { readonly step: 'download'; readonly url: string }
  | { readonly step: 'cleanUp' }
  /** A Challenge of it ended without proof. */
  | { readonly step: 'giveUp'; readonly challenge: ChildChallenge }
  /** Woken earlier by a change of one of its Challenges; without a time, by nothing else. */
  | { readonly step: 'wait'; readonly until?: number }
  | { readonly step: 'done' };

/** A Challenge of the Order, as its status says. */
export interface ChildChallenge {
  /** URL of the authorization that it is for. */
  readonly authorization: string;
  readonly state: ChallengeState | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Everything that an Order's next step depends on. */
export interface OrderView {
  readonly record: OrderRecord;
  readonly memory: OrderMemory;
  readonly challenges: readonly ChildChallenge[];
  /** Whether a certificate is named that this one replaces. */
  readonly replaces: boolean;
  /** Whether the Order is deleted, or what asked for it is gone or changed. */
  readonly abandoned: boolean;
}

/**
 * The next step of an Order (RFC 8555 §7.1.6). A new process reads the server's state before it repeats any call; only
 * newOrder cannot be read.
 *
 * @param now - milliseconds since 1970
 */
export function nextOrderStep(view: OrderView, now: number): OrderStep {
  const { record, memory, challenges, abandoned } = view;
  if (abandoned || isFinalOrder(record))
    return { step: challenges.length > 0 ? 'cleanUp' : 'done' };
  const until = waitsUntil(record, now);
  if (until !== undefined) return { step: 'wait', until };
  if (record.reason === UNAUTHORIZED && !memory.accountIsValid) return { step: 'readAccount' };
  if (record.url === undefined)
    return { step: 'newOrder', replaces: view.replaces && !record.replacesRefused };
  return memory.server === undefined ? { step: 'readOrder' } : serverStep(view, memory.server);
}

/** What the server's state asks for; the reducer has made `invalid` final, unless its record was not written. */
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

function pendingStep(
  { record, challenges }: OrderView,
  authorizations: readonly string[],
): OrderStep {
  const known = new Set(record.authorizations.map(({ url }) => url));
  const unread = authorizations.find((url) => !known.has(url));
  if (unread !== undefined) return { step: 'readAuthorization', url: unread };
  const failed = challenges.find(({ state }) => isFinalChallenge(state) && state !== 'valid');
  if (failed !== undefined) return { step: 'giveUp', challenge: failed };
  const ofUrl = new Map(challenges.map((each) => [each.authorization, each]));
  const toProve = record.authorizations.filter(({ wasValid }) => !wasValid);
  const without = toProve.find(({ url }) => !ofUrl.has(url));
  if (without !== undefined) return { step: 'createChallenge', authorization: without.url };
  // All have ended: the server's order follows, at once or a little later.
  const open = toProve.some(({ url }) => ofUrl.get(url)?.state !== 'valid');
  return open ? { step: 'wait' } : { step: 'readOrder' };
}
