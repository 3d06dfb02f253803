// SPDX-License-Identifier: Apache-2.0
import type { OrderBudgets, WantedOrder } from '../../../acme-orders/budgets.ts';
import type { Order } from '../../../api/acme/index.ts';
import { keyOfRef, type AcmeSigners } from '../../../runtime/signers/acme-signers.ts';

/** An Order as the budgets of its CA see it. */
export function wantedOrder({ metadata, spec, status }: Order, account: string): WantedOrder {
  return {
    ...{ id: metadata.uid, account, names: spec.identifiers.map(({ value }) => value) },
    isRenewal: spec.renewal,
    isExempt: spec.replaces !== undefined && status.replacesRefused !== true,
    createdAt: Date.parse(metadata.creationTimestamp),
  };
}

/** What earlier leaders ordered has taken its share of the budgets: the CA counts it, too. */
export function replayBudgets(
  budgets: OrderBudgets,
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
    if (account === undefined) continue;
    const wanted = wantedOrder(order, account);
    budgets.add(wanted);
    budgets.next(wanted.createdAt);
    budgets.remove(wanted.id);
  }
}
