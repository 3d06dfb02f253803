// SPDX-License-Identifier: Apache-2.0
import type { Order } from '../../../api/acme/index.ts';
import { keyOf } from '../../../api/object/object.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { requeueAt, serverTime } from '../../../runtime/component/server-time.ts';
import type { AcmeContext, HeldBack } from '../context.ts';
import { keyOfRef } from '../../../runtime/signers/acme-signers.ts';
import type { Term } from '../store/term.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import { OrderWork } from './order-work.ts';
import { replayBudgets, wantedOrder } from './wanted-order.ts';

/** Calls that wait for slow servers; how many writes are in flight is limited elsewhere. */
const ORDER_WORKERS = 32;
/** A key of the queue that no object has: budgets have room again. */
const BUDGETS = ' budgets';

/** Brings every Order to its end. */
export class OrderLoop {
  readonly #context: AcmeContext;
  readonly #component: Component;
  /** Key by uid, of Orders that wait for a budget. */
  readonly #waiting = new Map<string, string>();

  constructor(context: AcmeContext) {
    const { component, orders, challenges, sessions } = context;
    this.#context = context;
    this.#component = withOwnQueue(component, 'orders');
    const { queue } = this.#component;
    orders.onEvent((key, now, before) => {
      if (now === undefined && before !== undefined) this.#forget(before);
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

  /** This process leads from now on: what was ordered before counts, and every Order is looked at. */
  readonly begin = (term: Term): void => {
    const { orders, signers } = this.#context;
    replayBudgets(term.budgets, orders.list(), signers);
    for (const { metadata } of orders.list()) this.#component.queue.add(keyOf(metadata));
  };

  /** A signer can order again, or was changed: what waited for another solver is looked at now. */
  readonly wake = (signerKey: string): void => {
    const term = this.#context.term();
    for (const { metadata, spec } of this.#context.orders.list()) {
      if (keyOfRef(spec.signerRef, metadata.namespace ?? '') !== signerKey) continue;
      const held = term?.orders.get(metadata.uid);
      if (held?.record.reason === 'NoSolver')
        held.record = { ...held.record, nextAttemptAt: undefined };
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
    // Before all Challenges are known, one that is there could be made again.
    if (present === undefined || !orders.synced || !challenges.synced) return undefined;
    if (key === BUDGETS) return this.#grant(present);
    const order = orders.get(key);
    if (order === undefined) return undefined;
    return new OrderWork(this.#context, present, order, this.#askBudget).run();
  }

  /** A share of the CA's budgets is taken once for each Order, renewals first. */
  readonly #askBudget = (order: Order, account: string): HeldBack | undefined => {
    const term = this.#context.term();
    const { metadata } = order;
    const { uid } = metadata;
    if (term === undefined || term.granted.has(uid)) return undefined;
    this.#waiting.set(uid, keyOf(metadata));
    term.budgets.add(wantedOrder(order, account));
    this.#grant(term);
    if (term.granted.has(uid)) return undefined;
    const message =
      'as many orders were made as the CA allows in this time; renewals come first, then the oldest';
    return { reason: 'OrderBudget', message };
  };

  #grant(term: Term): ReconcileResult {
    const component = this.#component;
    const now = serverTime(component);
    for (let next = term.budgets.next(now); next !== undefined; next = term.budgets.next(now)) {
      term.granted.add(next.id);
      const key = this.#waiting.get(next.id);
      this.#waiting.delete(next.id);
      if (key !== undefined) component.queue.add(key);
    }
    const at = term.budgets.wakeAt();
    if (at === undefined) return undefined;
    component.queue.addAt(BUDGETS, requeueAt(component, at).requeueAt);
    return requeueAt(component, at);
  }

  #forget({ metadata }: Order): void {
    const term = this.#context.term();
    const { uid } = metadata;
    this.#waiting.delete(uid);
    term?.orders.delete(uid);
    term?.granted.delete(uid);
    term?.budgets.remove(uid);
  }
}
