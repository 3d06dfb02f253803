// SPDX-License-Identifier: Apache-2.0
import { changed } from '#acme/orders/status.ts';
import { keyOf } from '#api/object/object.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import type { AcmeContext } from '../context.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import type { Term } from '../store/leader-state.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import { OrderShares } from './order-shares.ts';
import { isGone } from './order-state.ts';
import { driveOrder } from './order-work.ts';
import { replayBudgets } from './wanted-order.ts';

/** Workers wait for slow servers. Another limit applies to concurrent writes. */
const ORDER_WORKERS = 32;
/** Key in the queue that no object has: some budget has room again. */
const BUDGETS = ' budgets';

/** Drives every Order to its end. */
export class OrderLoop {
  readonly #context: AcmeContext;
  readonly #component: Component;
  readonly #shares: OrderShares;

  constructor(context: AcmeContext) {
    const { component, orders, challenges, sessions } = context;
    this.#context = context;
    this.#component = withOwnQueue(component, 'orders');
    const { queue } = this.#component;
    this.#shares = new OrderShares({
      term: context.term,
      now: () => serverTime(this.#component),
      exists: (order) => !isGone(context, order),
      wake: (key) => {
        queue.add(key);
      },
      grantAt: (at) => {
        queue.addAt(BUDGETS, requeueAt(this.#component, at).requeueAt);
      },
    });
    orders.onEvent((key, now, before) => {
      if (now === undefined && before !== undefined) this.#shares.forget(before);
      else queue.add(key);
    });
    challenges.onEvent((_key, now, before) => {
      const challenge = now ?? before;
      if (challenge === undefined) return;
      const { metadata, spec } = challenge;
      queue.add(`${metadata.namespace ?? ''}/${spec.orderRef.name}`);
    });
    sessions.onChange((signerKey) => {
      this.wake(signerKey);
    });
  }

  /** Called when this process starts to lead. Earlier orders count, and every Order is queued. */
  readonly begin = (term: Term): void => {
    const { orders, signers } = this.#context;
    replayBudgets(term, orders.list(), signers);
    for (const { metadata } of orders.list()) this.#component.queue.add(keyOf(metadata));
  };

  /**
   * Queues the Orders of a signer that became ready or changed. Orders without a solver are retried
   * at once.
   */
  readonly wake = (signerKey: string): void => {
    const term = this.#context.term();
    for (const { metadata, spec } of this.#context.orders.list()) {
      if (keyOfRef(spec.signerRef, metadata.namespace ?? '') !== signerKey) continue;
      const held = term?.orders.get(metadata.uid);
      if (held?.status.reason === 'NoSolver')
        held.status = changed(held.status, { nextAttemptAt: undefined });
      this.#component.queue.add(keyOf(metadata));
    }
  };

  readonly run = (signal: AbortSignal): Promise<void> => {
    const handle = (key: string): Promise<ReconcileResult> => this.#reconcile(key);
    return runObjectLoop(
      this.#component,
      { noun: 'Order', workers: ORDER_WORKERS, handle },
      signal,
    );
  };

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { term, orders, challenges } = this.#context;
    const present = term();
    // A Challenge could be created twice while the caches are incomplete.
    if (present === undefined || !orders.synced || !challenges.synced) return undefined;
    if (key === BUDGETS) {
      const at = this.#shares.grant(present);
      return at === undefined ? undefined : requeueAt(this.#component, at);
    }
    const order = orders.get(key);
    if (order === undefined) return undefined;
    return driveOrder(this.#context, present, order, this.#shares);
  }
}
