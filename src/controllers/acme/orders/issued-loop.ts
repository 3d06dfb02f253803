// SPDX-License-Identifier: Apache-2.0
import { REVOKE_ANNOTATION, type Order } from '../../../api/acme/index.ts';
import { keyOf } from '../../../api/object/object.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { keyOfRef } from '../../../runtime/signers/acme-signers.ts';
import type { AcmeContext } from '../context.ts';
import { leafOf } from '../store/leaf.ts';
import { runObjectLoop, withOwnQueue } from '../store/object-loop.ts';
import { IssuedWork } from './issued-work.ts';

/** Few certificates are revoked at once; nothing else waits for these calls. */
const ISSUED_WORKERS = 8;

/** Looks after the certificates of Orders that have theirs. It has a queue of its own: it holds up no Order. */
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

  /** This process leads from now on. */
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
    const { term, orders } = this.#context;
    const present = term();
    const order = orders.get(key);
    if (present === undefined || order === undefined || !isLookedAfter(order)) return undefined;
    const leaf = leafOf(order);
    return leaf && new IssuedWork(this.#context, present, order, leaf).revoke();
  }
}

/** Whether there is something to revoke, or a wish that was taken back. */
function isLookedAfter({ metadata, status }: Order): boolean {
  const { state, certificate, revocation } = status;
  const isWished = metadata.annotations?.[REVOKE_ANNOTATION] !== undefined;
  return state === 'valid' && certificate !== undefined && (isWished || revocation !== undefined);
}
