// SPDX-License-Identifier: Apache-2.0
import { refOfAcmeSigner, type AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_GROUP } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { IssuingCas } from '#requests/issuing/issuing-ca.ts';
import {
  watchedElsewhere,
  type RequestSelector,
  type SignerSet,
} from '#component/signers/signer-set.ts';
import type { AcmeCache } from '../store/cache.ts';
import { orderedIssuing, type OrderedRequest, type OrderingInit } from './issue.ts';
import { createOrphanedOrders } from './orphaned-orders.ts';
import { createSignerHolds } from './signer-holds.ts';
import { createOrdersOfRequests, requestKeyOf, type OrderedKind } from './orders-of-requests.ts';

/** Parts of a loop over one kind of requests, for `createCsrSigning` and `createIssuerSigning`. */
export interface RequestLoopInit {
  readonly component: Component;
  readonly signers: SignerSet<AcmeSigner>;
  readonly sources: IssuingCas<AcmeSigner, OrderedRequest>;
  readonly permissions: (signers: readonly AcmeSigner[]) => readonly PermissionRule[];
  readonly onGone: (key: string) => void;
}

export interface AcmeRequestsInit {
  readonly component: Component;
  /** Signers that serve. Another part runs the watch. */
  readonly signers: SignerSet<AcmeSigner>;
  /** All Orders. Another part runs the watch. */
  readonly orders: Pick<AcmeCache<Order>, 'synced' | 'onEvent' | 'applyWrite'>;
  /** Namespace of the Orders for requests without a namespace, unless their signer has one. */
  readonly namespace: string;
  /** Creates the loop over CertificateSigningRequests. */
  readonly signCsrs: (init: RequestLoopInit) => Controller;
  /** Creates the loop over CertificateRequests. */
  readonly signCertificateRequests: (
    init: RequestLoopInit & { readonly selectionOf: (signer: AcmeSigner) => RequestSelector },
  ) => Controller;
}

/**
 * Answers requests of ACME signers by one live Order each. A rule must first allow the whole
 * request.
 */
export function createAcmeRequests(
  init: AcmeRequestsInit,
): Pick<Controller, 'run' | 'notReady' | 'warnings'> {
  const { component } = init;
  const orders = createOrdersOfRequests();
  const holds = createSignerHolds();
  init.orders.onEvent((_key, now, before) => {
    orders.observe(now, before);
    holds.observe(now, before);
  });
  const leftovers = createOrphanedOrders({ component, orders });
  const loopInit = (kind: OrderedKind, loop: Component): RequestLoopInit => ({
    component: loop,
    signers: watchedElsewhere(init.signers),
    sources: sourcesOf(init, { orders, holds }, kind),
    // These loops need no permissions beyond the component's.
    permissions: () => [],
    onGone: (key) => {
      leftovers.onGone(kind, key);
    },
  });
  const loops = [
    init.signCsrs(loopInit('CertificateSigningRequest', component)),
    init.signCertificateRequests({
      ...loopInit('CertificateRequest', {
        ...component,
        ...component.anotherLoop('certificate-requests'),
      }),
      selectionOf,
    }),
  ];
  return {
    notReady: () => loops.flatMap((each) => each.notReady()),
    warnings: () => loops.flatMap((each) => each.warnings?.() ?? []),
    run: async (signal) => {
      await Promise.all([...loops, leftovers].map((each) => each.run(signal)));
    },
  };
}

/** Returns a selector for the API server: cert-manager's CRD lists these as selectableFields. */
function selectionOf(signer: AcmeSigner): RequestSelector {
  const { kind, name } = refOfAcmeSigner(signer);
  const fieldSelector = [
    `spec.issuerRef.group=${ACME_GROUP}`,
    `spec.issuerRef.kind=${kind}`,
    `spec.issuerRef.name=${name}`,
  ].join(',');
  return { fieldSelector, namespace: signer.metadata.namespace };
}

function sourcesOf(
  init: AcmeRequestsInit,
  { orders, holds }: Pick<OrderingInit, 'orders' | 'holds'>,
  kind: OrderedKind,
): IssuingCas<AcmeSigner, OrderedRequest> {
  const { component, namespace, signers } = init;
  const ordering = {
    component,
    orders,
    holds,
    kind,
    namespace,
    // This entry prevents a second Order until the watch delivers it.
    onCreated: init.orders.applyWrite,
  };
  return {
    issuing: (signer) => orderedIssuing(ordering, signer),
    serve: () => undefined,
    listed: () => init.orders.synced,
    onChange: () => undefined,
    onAnswer: (listener) => {
      orders.onEnd((order) => {
        const { requestRef, signerRef } = order.spec;
        if (requestRef.kind !== kind) return;
        for (const signer of signers.all()) {
          const ref = refOfAcmeSigner(signer);
          if (ref.name !== signerRef.name || ref.kind !== signerRef.kind) continue;
          listener(signer.spec.signerName, requestKeyOf(order));
        }
      });
    },
    notReady: () => [],
    stop: () => Promise.resolve(),
  };
}
