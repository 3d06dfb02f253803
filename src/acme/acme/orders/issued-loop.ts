// SPDX-License-Identifier: Apache-2.0
import { REVOKE_ANNOTATION } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { keyOfRef } from '#component/signers/acme-signers.ts';
import type { AcmeContext } from '../context.ts';
import { leafOf } from '../store/leaf.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import { reconcileRevocation } from './issued-work.ts';

/** Few certificates are revoked at once, and nothing else waits for these calls. */
const ISSUED_WORKERS = 8;

/**
 * Revokes certificates of issued Orders on request. Its own queue keeps it from delaying Orders.
 */
export class IssuedLoop {
  readonly #context: AcmeContext;
  readonly #component: Component;

  constructor(context: AcmeContext) {
    const { component, orders, sessions } = context;
    this.#context = context;
    this.#component = withOwnQueue(component, 'issued');
    const { queue } = this.#component;
    orders.onEvent((key, now) => {
      if (now !== undefined && isLookedAfter(now)) queue.add(key);
    });
    sessions.onChange((signerKey) => {
      for (const { metadata, spec } of orders.list().filter(isLookedAfter))
        if (keyOfRef(spec.signerRef, metadata.namespace ?? '') === signerKey)
          queue.add(keyOf(metadata));
    });
  }

  /** Called when this process starts to lead. */
  readonly begin = (): void => {
    for (const { metadata } of this.#context.orders.list().filter(isLookedAfter))
      this.#component.queue.add(keyOf(metadata));
  };

  readonly run = (signal: AbortSignal): Promise<void> => {
    const handle = (key: string): Promise<ReconcileResult> => this.#reconcile(key);
    return runObjectLoop(
      this.#component,
      { noun: 'Order', workers: ISSUED_WORKERS, handle },
      signal,
    );
  };

  async #reconcile(key: string): Promise<ReconcileResult> {
    const context = this.#context;
    const term = context.term();
    const order = context.orders.get(key);
    if (term === undefined || order === undefined || !isLookedAfter(order)) return undefined;
    const leaf = leafOf(order);
    return leaf && reconcileRevocation({ context, term, order, leaf });
  }
}

/** Reports whether the Order has a certificate to revoke, or a withdrawn request for it. */
function isLookedAfter({ metadata, status }: Order): boolean {
  const { state, certificate, revocation } = status;
  const isWished = metadata.annotations?.[REVOKE_ANNOTATION] !== undefined;
  return state === 'valid' && certificate !== undefined && (isWished || revocation !== undefined);
}
