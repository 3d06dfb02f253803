// SPDX-License-Identifier: Apache-2.0
import {
  ACME_GROUP,
  refOfAcmeSigner,
  type AcmeSigner,
  type Order,
} from '../../../api/acme/index.ts';
import type { PermissionRule } from '../../../kube/resource/permissions.ts';
import type { Component, Controller } from '../../../runtime/component/component.ts';
import type { IssuingCas } from '../../../runtime/issuing/issuing-ca.ts';
import {
  watchedElsewhere,
  type RequestSelector,
  type SignerSet,
} from '../../../runtime/signers/signer-set.ts';
import type { AcmeCache } from '../store/cache.ts';
import { orderedIssuing, type OrderedRequest } from './issue.ts';
import { createLeftoverOrders } from './leftover-orders.ts';
import {
  createOrdersOfRequests,
  requestKeyOf,
  type OrderedKind,
  type OrdersOfRequests,
} from './orders-of-requests.ts';

/** What a loop over one kind of requests is made from: `createCsrSigning` and `createCertificateRequestSigning` take it. */
export interface RequestLoopInit {
  readonly component: Component;
  readonly signers: SignerSet<AcmeSigner>;
  readonly sources: IssuingCas<AcmeSigner, OrderedRequest>;
  readonly permissions: (signers: readonly AcmeSigner[]) => readonly PermissionRule[];
  readonly onGone: (key: string) => void;
}

export interface AcmeRequestsInit {
  readonly component: Component;
  /** Those that serve. The watch runs elsewhere. */
  readonly signers: SignerSet<AcmeSigner>;
  /** All Orders. The watch runs elsewhere. */
  readonly orders: Pick<AcmeCache<Order>, 'synced' | 'onEvent' | 'applyWrite'>;
  /** Of the Orders of requests without a namespace, unless their signer has one. */
  readonly namespace: string;
  /** Makes the loop over CertificateSigningRequests. */
  readonly signCsrs: (init: RequestLoopInit) => Controller;
  /** Makes the loop over CertificateRequests. */
  readonly signCertificateRequests: (
    init: RequestLoopInit & { readonly selectionOf: (signer: AcmeSigner) => RequestSelector },
  ) => Controller;
}

/** Answers the requests of ACME signers: by one live Order each, made once a rule allows the whole request. */
export function createAcmeRequests(
  init: AcmeRequestsInit,
): Pick<Controller, 'run' | 'notReady' | 'warnings'> {
  const { component } = init;
  const orders = createOrdersOfRequests();
  init.orders.onEvent((_key, now, before) => {
    orders.observe(now, before);
  });
  const leftovers = createLeftoverOrders({ component, orders });
  const loopInit = (kind: OrderedKind, loop: Component): RequestLoopInit => ({
    component: loop,
    signers: watchedElsewhere(init.signers),
    sources: sourcesOf(init, orders, kind),
    // The component's own: these loops need no more.
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

/** The server filters: cert-manager's CRD lists these as selectableFields. */
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
  orders: OrdersOfRequests,
  kind: OrderedKind,
): IssuingCas<AcmeSigner, OrderedRequest> {
  const { component, namespace, signers } = init;
  const ordering = {
    ...{ component, orders, kind, namespace },
    // The watch shows it, too; until then no second one is made.
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
