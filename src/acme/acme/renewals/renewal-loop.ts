// SPDX-License-Identifier: Apache-2.0
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { requeueAt } from '#component/server-time.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import type { AcmeContext } from '../context.ts';
import { leafOf } from '../store/leaf.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import { AccountTurns } from './account-turns.ts';
import { NewestLeaves } from './newest-leaves.ts';
import { RenewalCounts } from './renewal-counts.ts';
import { reconcileRenewal } from './renewal-work.ts';

/** Limit on concurrent calls, one for each account. */
const RENEWAL_WORKERS = 8;

/** Tracks the renewal time of every certificate in use. */
export class RenewalLoop {
  readonly #context: AcmeContext;
  readonly #component: Component;
  readonly #marks: boolean;
  readonly #newest = new NewestLeaves();
  readonly #counts: RenewalCounts;
  readonly #lookAt = new Map<string, number>();
  #turns: AccountTurns;

  /** @param marks - whether to mark Certificates of cert-manager for renewal */
  constructor(context: AcmeContext, marks: boolean) {
    const { component, orders, sessions } = context;
    this.#context = context;
    this.#marks = marks;
    this.#component = withOwnQueue(component, 'renewals');
    this.#counts = new RenewalCounts(component.metrics);
    this.#turns = this.#newTurns();
    const { queue } = this.#component;
    orders.onEvent((key, now, before) => {
      for (const each of this.#newest.observe(key, now, before)) queue.add(each);
      if (now === undefined && before !== undefined) this.#forget(key, before);
    });
    sessions.onChange((signerKey) => {
      for (const { metadata, spec } of orders.list().filter(hasCertificate))
        if (keyOfRef(spec.signerRef, metadata.namespace ?? '') === signerKey)
          queue.add(keyOf(metadata));
    });
  }

  /** Called when this process starts to lead. */
  readonly begin = (): void => {
    this.end();
    for (const { metadata } of this.#context.orders.list().filter(hasCertificate))
      this.#component.queue.add(keyOf(metadata));
  };

  /** Called when another process starts to lead. */
  readonly end = (): void => {
    this.#turns = this.#newTurns();
    this.#lookAt.clear();
    this.#counts.clear();
  };

  readonly run = (signal: AbortSignal): Promise<void> => {
    const handle = (key: string): Promise<ReconcileResult> => this.#reconcile(key);
    return runObjectLoop(
      this.#component,
      { noun: 'Order', workers: RENEWAL_WORKERS, handle },
      signal,
    );
  };

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { orders } = this.#context;
    const term = this.#context.term();
    const order = orders.get(key);
    const leaf = order && leafOf(order);
    if (term === undefined || order === undefined || leaf === undefined) return undefined;
    const parts = {
      context: this.#context,
      term,
      turns: this.#turns,
      counts: this.#counts,
      lookAt: this.#lookAt,
      marks: this.#marks,
    };
    const isReplaced = this.#newest.isReplaced(order);
    return reconcileRenewal(parts, { order, leaf, isReplaced });
  }

  #newTurns(): AccountTurns {
    const { queue } = this.#component;
    return new AccountTurns((key, at) => {
      queue.addAt(key, requeueAt(this.#component, at).requeueAt);
    });
  }

  #forget(key: string, { metadata }: Order): void {
    this.#turns.drop(key);
    this.#counts.set(metadata.uid, undefined);
    this.#lookAt.delete(metadata.uid);
  }
}

function hasCertificate({ status }: Order): boolean {
  return status.state === 'valid' && status.certificate !== undefined;
}
