// SPDX-License-Identifier: Apache-2.0
import type { Order } from '#api/acme/order.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  isDenied,
  isFinished as isAnswered,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import {
  CSR_RESOURCE,
  isFinished as isSigned,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import { messageOf } from '#base/errors.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { isEnded } from './decide.ts';
import { removeOrder } from './issue.ts';
import { leafOf } from '../store/leaf.ts';
import type { OrdersOfRequests, OrderedKind } from './orders-of-requests.ts';
import * as messages from '../messages.ts';

/** Removes Orders without a request. */
export interface OrphanedOrders {
  /** Removes the live Orders of a request that is no longer pending, or is gone. */
  readonly onGone: (kind: OrderedKind, key: string) => void;
  /** Checks all Orders of CertificateSigningRequests at intervals until `signal` aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface OrphanedOrdersInit {
  readonly component: Pick<Component, 'client' | 'clock' | 'delay' | 'log' | 'shard'>;
  readonly orders: OrdersOfRequests;
}

/** Interval of the checks. An orphaned Order costs the CA and this program little. */
const INTERVAL_MS = 60 * 60_000;

const PATHS = {
  CertificateSigningRequest: resource(CSR_RESOURCE),
  CertificateRequest: resource(CERTIFICATE_REQUEST_RESOURCE),
};

/** Removes nothing before `run` or `onGone`. */
export function createOrphanedOrders(init: OrphanedOrdersInit): OrphanedOrders {
  const { orders, component } = init;
  return {
    onGone: (kind, key) => {
      const live = orders.ofRequest(kind, key).filter((each) => !isEnded(each));
      if (live.length > 0) void removeOrphans(init, live);
    },
    run: async (signal) => {
      while (!signal.aborted) {
        const shown = orders
          .ofCsrs()
          .filter(({ spec }) => component.shard.owns(spec.requestRef.uid));
        await removeOrphans(init, shown);
        await component.delay(INTERVAL_MS, signal).catch(() => undefined);
      }
    },
  };
}

/** Logs errors: the next check comes within the hour. */
async function removeOrphans(init: OrphanedOrdersInit, orders: readonly Order[]): Promise<void> {
  for (const order of orders) {
    try {
      if (await readIsNeeded(init, order)) continue;
      await removeOrder(init, order);
      const { namespace = '', name } = order.metadata;
      init.component.log.info({ order: `${namespace}/${name}` }, messages.ORPHAN_REMOVED);
    } catch (error) {
      init.component.log.warn({ error: messageOf(error) }, messages.ORPHAN_NOT_REMOVED);
    }
  }
}

/**
 * Reads whether an Order is needed. An issued certificate keeps its Order until it expires, for
 * renewal and revocation.
 */
async function readIsNeeded({ component }: OrphanedOrdersInit, order: Order): Promise<boolean> {
  const leaf = leafOf(order);
  if (leaf !== undefined) return leaf.notAfter > serverTime(component);
  const { kind, name, uid } = order.spec.requestRef;
  const { namespace } = order.metadata;
  const reference = kind === 'CertificateRequest' ? { namespace, name } : { name };
  const request = await component.client
    .request<CertificateRequest & CertificateSigningRequest>({
      method: 'GET',
      path: PATHS[kind].object(reference),
    })
    .catch(ignoreNotFound);
  if (request?.metadata.uid !== uid) return false;
  if (kind === 'CertificateSigningRequest') return !isSigned(request);
  return !isAnswered(request) && !isDenied(request);
}
