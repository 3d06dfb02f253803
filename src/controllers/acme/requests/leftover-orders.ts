// SPDX-License-Identifier: Apache-2.0
import type { Order } from '../../../api/acme/index.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  isDenied,
  isFinished as isAnswered,
  type CertificateRequest,
} from '../../../api/request/certificate-request.ts';
import {
  CSR_RESOURCE,
  isFinished as isSigned,
  type CertificateSigningRequest,
} from '../../../api/request/csr.ts';
import { messageOf } from '../../../errors.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { serverTime } from '../../../runtime/component/server-time.ts';
import { isEnded } from './decide.ts';
import { removeOrder } from './issue.ts';
import { leafOf } from '../store/leaf.ts';
import type { OrdersOfRequests, OrderedKind } from './orders-of-requests.ts';

/** Removes Orders that nobody asks for any more. */
export interface LeftoverOrders {
  /** A request is no longer pending, or is gone: its live Orders are abandoned. */
  readonly onGone: (kind: OrderedKind, key: string) => void;
  /** Looks at all Orders of CertificateSigningRequests now and then, until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface LeftoverOrdersInit {
  readonly component: Pick<Component, 'client' | 'clock' | 'delay' | 'log' | 'shard'>;
  readonly orders: OrdersOfRequests;
}

/** An Order of a request that is gone costs its CA and us little: once an hour is often enough. */
const INTERVAL_MS = 60 * 60_000;

const PATHS = {
  CertificateSigningRequest: resource(CSR_RESOURCE),
  CertificateRequest: resource(CERTIFICATE_REQUEST_RESOURCE),
};

/** Nothing is removed before `run` or `onGone`. */
export function createLeftoverOrders(init: LeftoverOrdersInit): LeftoverOrders {
  const { orders, component } = init;
  return {
    onGone: (kind, key) => {
      const live = orders.ofRequest(kind, key).filter((each) => !isEnded(each));
      if (live.length > 0) void removeUnasked(init, live);
    },
    run: async (signal) => {
      while (!signal.aborted) {
        const shown = orders
          .ofCsrs()
          .filter(({ spec }) => component.shard.owns(spec.requestRef.uid));
        await removeUnasked(init, shown);
        await component.delay(INTERVAL_MS, signal).catch(() => undefined);
      }
    },
  };
}

/** An error is logged: the next look comes within the hour. */
async function removeUnasked(init: LeftoverOrdersInit, orders: readonly Order[]): Promise<void> {
  for (const order of orders) {
    try {
      if (await isAskedFor(init, order)) continue;
      await removeOrder(init, order);
      const { namespace = '', name } = order.metadata;
      init.component.log.info(
        { order: `${namespace}/${name}` },
        'order removed: nothing asks for it',
      );
    } catch (error) {
      init.component.log.warn({ error: messageOf(error) }, 'an order that nothing asks for stays');
    }
  }
}

/** A certificate that was issued keeps its Order to its end: by it, it is renewed and revoked. */
async function isAskedFor({ component }: LeftoverOrdersInit, order: Order): Promise<boolean> {
  const leaf = leafOf(order);
  if (leaf !== undefined) return leaf.notAfter > serverTime(component);
  const { kind, name, uid } = order.spec.requestRef;
  const { namespace } = order.metadata;
  const reference = kind === 'CertificateRequest' ? { namespace, name } : { name };
  const request = await component.client
    .request<CertificateRequest & CertificateSigningRequest>({
      ...{ method: 'GET', path: PATHS[kind].object(reference) },
    })
    .catch(ignoreNotFound);
  if (request?.metadata.uid !== uid) return false;
  if (kind === 'CertificateSigningRequest') return !isSigned(request);
  return !isAnswered(request) && !isDenied(request);
}
