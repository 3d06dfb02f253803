// SPDX-License-Identifier: Apache-2.0
import { acceptChain } from '#acme/issuing/index.ts';
import type { RequestedCertificate } from '#acme/issuing/accepted-chain.ts';
import { refOfAcmeSigner, type AcmeSigner } from '#api/acme/acme-signer.ts';
import { objectName } from '#api/acme/fields.ts';
import { ORDERS } from '#api/acme/names.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import type { KubeObject } from '#api/object/object.ts';
import { findCondition } from '#api/request/conditions.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { parseDuration } from '#api/object/duration.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import type {
  CertificateTemplate,
  IssuedChain,
  IssuingCa,
  NotIssued,
} from '#requests/issuing/issuing-ca.ts';
import { certificateNameOf } from '../store/requester.ts';
import { orderIdentifiers, type UnorderableRequest } from './order-identifiers.ts';
import { decide, type OrderContents } from './decide.ts';
import { newOrder, type OrderParts } from './new-order.ts';
import type { OrdersOfRequests, OrderedKind } from './orders-of-requests.ts';
import type { SignerHolds } from './signer-holds.ts';
import { signerVersionOf } from './signer-version.ts';
import * as messages from '../messages.ts';

/** A request that an Order can be created for. */
export type OrderedRequest = KubeObject & { readonly spec: { readonly request: string } };

export interface OrderingInit {
  readonly component: Pick<Component, 'client' | 'clock' | 'log'>;
  readonly orders: OrdersOfRequests;
  readonly holds: SignerHolds;
  readonly kind: OrderedKind;
  /** Namespace of the Orders for requests without a namespace, unless their signer has one. */
  readonly namespace: string;
  /** Stores a new Order and notifies `orders`. */
  readonly onCreated: (order: Order) => void;
}

const ORDER_PATHS = resource(ORDERS);

/**
 * A public CA decides its validity alone. 9999-12-31 is the latest time in a certificate (RFC 5280
 * §4.1.2.5).
 */
const UNBOUNDED = { notBefore: 0, notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) };
/** An ended Order wakes its request. This wait covers a missed event. */
const UNSEEN_END_MS = 10 * 60_000;
/** Our own watch delivers an Order of this name sooner. */
const TAKEN_MS = 2_000;

/** Issues by Orders. Creates one if none is live, and delivers the chain of a valid one. */
export function orderedIssuing(init: OrderingInit, signer: AcmeSigner): IssuingCa<OrderedRequest> {
  return {
    validity: UNBOUNDED,
    identity: signer.metadata.uid,
    issue: (wanted, request) => issue(init, signer, wanted, request),
  };
}

async function issue(
  init: OrderingInit,
  signer: AcmeSigner,
  wanted: CertificateTemplate,
  request: OrderedRequest,
): Promise<IssuedChain | NotIssued> {
  const asked = orderContentsOf(request, wanted, signer);
  if ('fault' in asked) {
    const { fault, message } = asked;
    return { kind: 'notIssued', how: fault === 'signer' ? 'issuer' : 'permanent', message };
  }
  const now = serverTime(init.component);
  const { uid } = request.metadata;
  const { spki } = wanted.publicKey;
  const maxSeconds = parseDuration(signer.spec.profile.maxDuration);
  const { allowedExtensions, omittedIssuers } = signer.spec.acme;
  const held = { ...asked, spki, maxSeconds, allowedExtensions, omittedIssuers };
  const plan = decide({
    uid,
    asked,
    now,
    orders: init.orders.of(uid),
    retriedNow: init.orders.wasDeleted(uid),
    signerVersion: signerVersionOf(signer),
    hold: init.holds.of(signer, now),
    wrongChain: (pem) => wrongChain(pem, held, now),
  });
  switch (plan.kind) {
    case 'deliver':
      return delivered(plan.chain);
    case 'fail':
      return { kind: 'notIssued', how: 'permanent', message: plan.message };
    case 'create':
      return create(init, { request, signer, asked, now });
    case 'remove':
      for (const order of plan.orders) await removeOrder(init, order);
      return pending(messages.ORDERS_DELETED, TAKEN_MS);
    case 'wait':
      return pending(plan.message, plan.until === undefined ? UNSEEN_END_MS : plan.until - now);
  }
}

/** Returns the contents of an Order for a request, or why none can be created. */
function orderContentsOf(
  { metadata, spec }: OrderedRequest,
  { subject }: CertificateTemplate,
  signer: AcmeSigner,
): OrderContents | UnorderableRequest {
  // The API server takes any name of a CertificateSigningRequest. An Order refers to it by name.
  if (!objectName.safeParse(metadata.name).success)
    return { fault: 'request', message: messages.unorderableName(metadata.name) };
  return orderIdentifiers(spec.request, subject, signer);
}

/**
 * Returns the fault of a chain. It matched the request at its download, but the signer and the time
 * may have changed.
 */
function wrongChain(pem: string, asked: RequestedCertificate, now: number): string | undefined {
  const read = attempt(() => readCertificates(pem));
  if (read instanceof SignerError) return messages.unreadableChain(read.message);
  const [leaf, ...above] = read;
  if (leaf === undefined) return messages.NO_CERTIFICATE;
  const accepted = acceptChain({ certificates: [leaf, ...above] }, asked, now);
  return 'wrong' in accepted ? accepted.wrong : undefined;
}

function delivered(chain: string): IssuedChain {
  const [leaf] = readCertificates(chain);
  const { notBefore, notAfter } = leaf ?? UNBOUNDED;
  // The verifier of the certificate decides which public CAs to trust.
  return { kind: 'chain', chain, anchors: '', validity: { notBefore, notAfter } };
}

async function create(
  init: OrderingInit,
  at: Pick<OrderParts, 'request' | 'signer' | 'asked' | 'now'>,
): Promise<NotIssued> {
  const unready = unreadyReason(at.signer);
  if (unready !== undefined) return { kind: 'notIssued', how: 'issuer', message: unready };
  const { orders, holds, kind, component } = init;
  const { request, signer, asked } = at;
  const namespace = request.metadata.namespace ?? signer.metadata.namespace ?? init.namespace;
  const { identifiers } = asked;
  const ofRequester = orders.ofRequester({
    namespace,
    identifiers,
    signerRef: refOfAcmeSigner(signer),
    certificate: certificateNameOf(request),
  });
  const number = orders.nextAttempt(namespace, request.metadata.name);
  const body = newOrder({ ...at, kind, namespace, attempt: number, ofRequester });
  const { name } = body.metadata;
  // Other requests must not try the CA at the same time.
  const uncount = holds.creating(signer, request.metadata.uid, at.now);
  try {
    const made = await component.client.request<KubeObject>({
      method: 'POST',
      path: ORDER_PATHS.collection(namespace),
      body,
    });
    const order = readOrder(made);
    orders.created(order);
    init.onCreated(order);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
    return pending(messages.orderExists(namespace, name), TAKEN_MS);
  } finally {
    uncount();
  }
  component.log.info(
    { order: `${namespace}/${name}`, uid: request.metadata.uid },
    messages.ORDER_MADE,
  );
  return pending(messages.orderCreated(namespace, name), UNSEEN_END_MS);
}

/** Returns the reason against a new Order for the signer, or undefined if it is ready. */
function unreadyReason({ kind, metadata, status }: AcmeSigner): string | undefined {
  const ready = findCondition(status.conditions, 'Ready');
  const isCurrent = ready?.observedGeneration === metadata.generation;
  if (ready?.status === 'True' && isCurrent) return undefined;
  const why =
    ready?.status === 'False' && isCurrent ? messages.notReadyReason(ready.reason) : ' yet';
  return messages.requestedSignerNotReady(kind, metadata.name, why);
}

/** Deletes this Order only, not a later one of its name. */
export async function removeOrder(
  { component, orders }: Pick<OrderingInit, 'component' | 'orders'>,
  order: Order,
): Promise<void> {
  orders.removing(order);
  const { uid } = order.metadata;
  await component.client
    .request({
      method: 'DELETE',
      path: ORDER_PATHS.object(order.metadata),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
    })
    .catch(ignoreNotFound);
}

function pending(message: string, afterMs: number): NotIssued {
  return { kind: 'notIssued', how: 'pending', message, afterMs: Math.max(afterMs, 0) };
}
