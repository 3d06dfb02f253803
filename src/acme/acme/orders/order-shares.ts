// SPDX-License-Identifier: Apache-2.0
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import type { CallDeferral } from '../context.ts';
import type { Term } from '../store/leader-state.ts';
import * as messages from '../messages.ts';
import { endShare, returnShare, shareId, wantedShare } from './wanted-order.ts';

const DEFERRALS: Readonly<Record<'order' | 'certificate', CallDeferral>> = {
  order: { reason: 'OrderBudget', message: messages.ORDER_BUDGET },
  certificate: { reason: 'CertificateBudget', message: messages.CERTIFICATE_BUDGET },
};

export interface OrderSharesInit {
  /** Returns the leader's state, or undefined while another process leads. */
  readonly term: () => Term | undefined;
  /** Returns the API server's time in milliseconds since 1970. */
  readonly now: () => number;
  /** Reports whether the Order still exists. */
  readonly exists: (order: Order) => boolean;
  /** Continues the Order with this key. */
  readonly wake: (key: string) => void;
  /** Calls {@link OrderShares.grant} at this time. */
  readonly grantAt: (at: number) => void;
}

/** Gives Orders their shares of the CA's budgets, by turns of namespaces. */
export class OrderShares {
  readonly #init: OrderSharesInit;
  /** Key of the Order by the id of the share that it waits for. */
  readonly #waiting = new Map<string, string>();

  constructor(init: OrderSharesInit) {
    this.#init = init;
  }

  /**
   * Takes a share of the CA's budgets once for each order and each certificate. An Order that was
   * deleted meanwhile takes none: {@link forget} was called already.
   */
  readonly take = (
    order: Order,
    account: string,
    of: 'order' | 'certificate',
  ): CallDeferral | undefined => {
    const term = this.#init.term();
    const { metadata } = order;
    const id = shareId(metadata.uid, of);
    if (term === undefined || term.granted.has(id)) return undefined;
    if (!this.#init.exists(order)) return DEFERRALS[of];
    this.#waiting.set(id, keyOf(metadata));
    term.budgets.add(wantedShare(order, account, of));
    this.grant(term);
    return term.granted.has(id) ? undefined : DEFERRALS[of];
  };

  /**
   * Notes the answer to a call that needed a share. An Order that the CA limits returns its share,
   * and takes its turn again after its wait.
   *
   * @param limitUntil - end of the CA's limit. Undefined: the CA answered otherwise
   */
  readonly answered = (
    order: Order,
    account: string,
    of: 'order' | 'certificate',
    limitUntil: number | undefined,
  ): void => {
    const term = this.#init.term();
    if (term === undefined) return;
    if (limitUntil === undefined) {
      term.budgets.pass(account);
    } else {
      const now = this.#init.now();
      const share = wantedShare(order, account, of);
      returnShare(term, { uid: order.metadata.uid, share }, now);
      term.budgets.limit(share, limitUntil, now);
    }
    this.grant(term);
  };

  /** Grants what the budgets have room for. @returns the time of the next share, or undefined */
  grant(term: Term): number | undefined {
    const now = this.#init.now();
    for (let next = term.budgets.next(now); next !== undefined; next = term.budgets.next(now)) {
      term.granted.add(next.id);
      if (next.of === 'certificate') term.reserved.set(next.id.split(' ')[0] ?? '', next);
      const key = this.#waiting.get(next.id);
      this.#waiting.delete(next.id);
      if (key !== undefined) this.#init.wake(key);
    }
    const at = term.budgets.wakeAt();
    if (at !== undefined) this.#init.grantAt(at);
    return at;
  }

  /**
   * Forgets a deleted Order. The share of its certificate is returned, unless the CA may have
   * issued the certificate. During a call to the CA, its answer decides.
   */
  forget({ metadata: { uid }, status }: Order): void {
    const term = this.#init.term();
    for (const kind of ['order', 'certificate'] as const) {
      const id = shareId(uid, kind);
      this.#waiting.delete(id);
      term?.budgets.remove(id);
    }
    if (term === undefined) return;
    const held = term.orders.get(uid);
    term.orders.delete(uid);
    term.granted.delete(shareId(uid, 'order'));
    if (held?.isCalling === true) return;
    const mayBeIssued = held?.isFinalized === true || status.state === 'processing';
    endShare(term, uid, { mayBeIssued }, this.#init.now());
  }
}
