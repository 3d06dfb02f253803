// SPDX-License-Identifier: Apache-2.0
import { acceptChain } from '../../../acme-issuing/index.ts';
import type { AskedFor } from '../../../acme-issuing/accepted-chain.ts';
import {
  ORDERS,
  readOrder,
  refOfAcmeSigner,
  type AcmeSigner,
  type Order,
} from '../../../api/acme/index.ts';
import type { KubeObject } from '../../../api/object/object.ts';
import { findCondition } from '../../../api/request/conditions.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { parseDuration } from '../../../api/object/duration.ts';
import { ignoreNotFound, KubeError } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { readCertificates } from '../../../pki/x509/certificate.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { serverTime } from '../../../runtime/component/server-time.ts';
import type {
  CertificateTemplate,
  IssuedChain,
  IssuingCa,
  NotIssued,
} from '../../../runtime/issuing/issuing-ca.ts';
import { certificateNameOf } from '../store/requester.ts';
import { askedFor } from './asked.ts';
import { decide } from './decide.ts';
import { newOrder, type OrderParts } from './new-order.ts';
import type { OrdersOfRequests, OrderedKind } from './orders-of-requests.ts';

/** A request that an Order can be made for. */
export type OrderedRequest = KubeObject & { readonly spec: { readonly request: string } };

export interface OrderingInit {
  readonly component: Pick<Component, 'client' | 'clock' | 'log'>;
  readonly orders: OrdersOfRequests;
  readonly kind: OrderedKind;
  /** Of the Orders of requests without a namespace, unless their signer has one. */
  readonly namespace: string;
  /** Stores an Order that was made, and tells `orders` of it. */
  readonly onCreated: (order: Order) => void;
}

const ORDER_PATHS = resource(ORDERS);

/** The validity of a public CA is not ours to know. 9999-12-31 is the latest time in a certificate (RFC 5280 §4.1.2.5). */
const UNBOUNDED = { notBefore: 0, notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) };
/** An Order that ends wakes its request; this is for the case that nobody saw it end. */
const UNSEEN_END_MS = 10 * 60_000;
/** Our own watch shows an Order of this name sooner. */
const TAKEN_MS = 2_000;

/** Issues by Orders: makes one where none is live, and delivers the chain of one that ended well. */
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
  const asked = askedFor(request.spec.request, wanted.subject, signer);
  if ('fault' in asked) {
    const { fault, message } = asked;
    return { kind: 'notIssued', how: fault === 'signer' ? 'issuer' : 'permanent', message };
  }
  const now = serverTime(init.component);
  const { uid } = request.metadata;
  const { spki } = wanted.publicKey;
  const maxSeconds = parseDuration(signer.spec.profile.maxDuration);
  const { allowedExtensions } = signer.spec.acme;
  const plan = decide({
    ...{ uid, asked, now },
    orders: init.orders.of(uid),
    retriedNow: init.orders.wasDeleted(uid),
    wrongChain: (pem) => wrongChain(pem, { ...asked, spki, maxSeconds, allowedExtensions }, now),
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
      return pending('Orders that are not needed any more were deleted', TAKEN_MS);
    case 'wait':
      return pending(plan.message, plan.until === undefined ? UNSEEN_END_MS : plan.until - now);
  }
}

/** The chain was held to the request when it was downloaded. What may have changed since is the signer, and the time. */
function wrongChain(pem: string, asked: AskedFor, now: number): string | undefined {
  const read = attempt(() => readCertificates(pem));
  if (read instanceof SignerError) return `a chain that cannot be read: ${read.message}`;
  const [leaf, ...above] = read;
  if (leaf === undefined) return 'no certificate';
  const accepted = acceptChain({ certificates: [leaf, ...above] }, asked, now);
  return 'wrong' in accepted ? accepted.wrong : undefined;
}

function delivered(chain: string): IssuedChain {
  const [leaf] = readCertificates(chain);
  const { notBefore, notAfter } = leaf ?? UNBOUNDED;
  // Which public CAs are trusted is decided where the certificate is shown.
  return { kind: 'chain', chain, anchors: '', validity: { notBefore, notAfter } };
}

async function create(
  init: OrderingInit,
  at: Pick<OrderParts, 'request' | 'signer' | 'asked' | 'now'>,
): Promise<NotIssued> {
  const unready = whyNotReady(at.signer);
  if (unready !== undefined) return { kind: 'notIssued', how: 'issuer', message: unready };
  const { orders, kind, component } = init;
  const { request, signer, asked } = at;
  const namespace = request.metadata.namespace ?? signer.metadata.namespace ?? init.namespace;
  const { identifiers } = asked;
  const ofRequester = orders.ofRequester({
    ...{ namespace, identifiers, signerRef: refOfAcmeSigner(signer) },
    certificate: certificateNameOf(request),
  });
  const number = orders.nextAttempt(namespace, request.metadata.name);
  const body = newOrder({ ...at, kind, namespace, attempt: number, ofRequester });
  const { name } = body.metadata;
  try {
    const made = await component.client.request<KubeObject>({
      ...{ method: 'POST', path: ORDER_PATHS.collection(namespace), body },
    });
    const order = readOrder(made);
    orders.created(order);
    init.onCreated(order);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
    return pending(`Order ${namespace}/${name} is there already`, TAKEN_MS);
  }
  component.log.info({ order: `${namespace}/${name}`, uid: request.metadata.uid }, 'order made');
  return pending(`Order ${namespace}/${name} was made`, UNSEEN_END_MS);
}

/** Why no Order may be made for a signer now; undefined: it is ready. */
function whyNotReady({ kind, metadata, status }: AcmeSigner): string | undefined {
  const ready = findCondition(status.conditions, 'Ready');
  const isCurrent = ready?.observedGeneration === metadata.generation;
  if (ready?.status === 'True' && isCurrent) return undefined;
  const why = ready?.status === 'False' && isCurrent ? `: ${ready.reason ?? ''}` : ' yet';
  return `${kind} ${metadata.name} is not ready${why}`;
}

/** Deletes an Order, and no other one of its name. */
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
