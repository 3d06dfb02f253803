// SPDX-License-Identifier: Apache-2.0
import { isFinalOrder } from '#acme/orders/status.ts';
import type { WantedShare } from '#acme/orders/turns/budgets.ts';
import type { Order } from '#api/acme/order.ts';
import { keyOfRef, type AcmeSigners } from '#component/signers/acme-signers.ts';
import type { HeldOrder, Term } from '../store/leader-state.ts';

/** Returns the share of the CA's budgets that an Order needs for newOrder or finalize. */
export function wantedShare(
  { metadata, spec, status }: Order,
  account: string,
  of: WantedShare['of'],
): WantedShare {
  return {
    id: shareId(metadata.uid, of),
    of,
    namespace: metadata.namespace ?? '',
    account,
    names: spec.identifiers.map(({ value }) => value),
    isRenewal: spec.renewal,
    isExempt: spec.replaces !== undefined && status.replacesRefused !== true,
    createdAt: Date.parse(metadata.creationTimestamp),
  };
}

export function shareId(uid: string, of: WantedShare['of']): string {
  return `${uid} ${of}`;
}

/** An Order and its result. */
interface SettledOrder {
  readonly order: Order;
  readonly held: Pick<HeldOrder, 'status' | 'memory'>;
  /** URL of the account. */
  readonly account: string;
}

/**
 * Settles the share of an ended Order. An issued certificate counts, also one that does not match
 * the request. Otherwise the share is returned.
 */
export function settleShare(
  { budgets, granted, reserved }: Pick<Term, 'budgets' | 'granted' | 'reserved'>,
  { order, held, account }: SettledOrder,
  now: number,
): void {
  if (!isFinalOrder(held.status)) return;
  const { uid } = order.metadata;
  const share = reserved.get(uid);
  reserved.delete(uid);
  const { isIssued } = held.memory;
  if (share !== undefined && !isIssued) budgets.giveBack(share, now);
  const unasked = wantedShare(order, account, 'certificate');
  // An earlier leader had it finalized.
  if (!isIssued || granted.has(unasked.id)) return;
  budgets.count(unasked, now);
  granted.add(unasked.id);
}

/** Returns the share of a call that the CA limited. It created nothing. */
export function returnShare(
  { budgets, granted, reserved }: Pick<Term, 'budgets' | 'granted' | 'reserved'>,
  { uid, share }: { readonly uid: string; readonly share: WantedShare },
  now: number,
): void {
  // A deleted Order's share was returned already, or belongs to an earlier leader.
  if (!granted.delete(share.id)) return;
  if (share.of === 'certificate') reserved.delete(uid);
  budgets.giveBack(share, now);
}

/**
 * Ends the share of a deleted Order's certificate. It counts if the CA may have issued one, and is
 * returned otherwise.
 */
export function endShare(
  { budgets, granted, reserved }: Pick<Term, 'budgets' | 'granted' | 'reserved'>,
  uid: string,
  { mayBeIssued }: { readonly mayBeIssued: boolean },
  now: number,
): void {
  const share = reserved.get(uid);
  reserved.delete(uid);
  granted.delete(shareId(uid, 'certificate'));
  if (share !== undefined && !mayBeIssued) budgets.giveBack(share, now);
}

/** Counts what earlier leaders created, as the CA does. */
export function replayBudgets(
  term: Pick<Term, 'budgets' | 'granted' | 'reserved'>,
  orders: readonly Order[],
  signers: Pick<AcmeSigners, 'get'>,
): void {
  const made = orders
    .filter(({ status }) => status.url !== undefined)
    .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1));
  for (const order of made) {
    const { metadata, spec } = order;
    const signer = signers.get(keyOfRef(spec.signerRef, metadata.namespace ?? ''));
    const account = signer?.status.account?.url;
    if (account !== undefined) replay(term, order, account);
  }
}

function replay(
  { budgets, granted, reserved }: Pick<Term, 'budgets' | 'granted' | 'reserved'>,
  order: Order,
  account: string,
): void {
  const { metadata, spec, status } = order;
  const count = (of: WantedShare['of'], at: number): WantedShare => {
    const share = wantedShare(order, account, of);
    budgets.count(share, at);
    granted.add(share.id);
    return share;
  };
  const createdAt = Date.parse(metadata.creationTimestamp);
  const endedAt = status.finalAt === undefined ? createdAt : Date.parse(status.finalAt);
  count('order', createdAt);
  if (status.certificate !== undefined) count('certificate', endedAt);
  if (status.state === 'processing') reserved.set(metadata.uid, count('certificate', createdAt));
  if (status.reason !== 'AuthorizationInvalid') return;
  for (const { value } of spec.identifiers) budgets.countValidation(account, value, -1, endedAt);
}
