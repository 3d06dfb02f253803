// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { refOfAcmeSigner, type AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_GROUP, ACME_VERSION, SIGNER_VERSION_ANNOTATION } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import type { KubeObject, ObjectMeta } from '#api/object/object.ts';
import { renewalId } from '#acme/protocol/index.ts';
import { CERTIFICATE_NAME } from '#api/workload/certificate.ts';
import { leafOf } from '../store/leaf.ts';
import { certificateNameOf, namesOf } from '../store/requester.ts';
import type { OrderContents } from './decide.ts';
import type { OrderedKind } from './orders-of-requests.ts';
import { signerVersionOf } from './signer-version.ts';

export interface OrderParts {
  readonly request: KubeObject;
  readonly kind: OrderedKind;
  readonly namespace: string;
  readonly signer: AcmeSigner;
  readonly asked: OrderContents;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Orders of the same requester. */
  readonly ofRequester: readonly Order[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Body of the POST. The API server adds the other metadata. */
export type OrderToCreate = Pick<Order, 'apiVersion' | 'kind' | 'spec'> & {
  readonly metadata: Pick<ObjectMeta, 'namespace' | 'name' | 'labels'> & {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: unknown;
  };
};

/**
 * Returns the Order for an attempt. A CertificateRequest owns its Order. The Order of a
 * CertificateSigningRequest outlives the request.
 */
export function newOrder(init: OrderParts): OrderToCreate {
  const { request, kind, namespace, signer, asked, now } = init;
  const { name, uid, labels } = request.metadata;
  const before = certificateBefore(init.ofRequester, asked, now);
  const certificate = certificateNameOf(request);
  const owner = { apiVersion: request.apiVersion, kind, name, uid, controller: true };
  return {
    apiVersion: `${ACME_GROUP}/${ACME_VERSION}`,
    kind: 'Order',
    metadata: {
      namespace,
      name: orderName(name, init.attempt),
      // Labels select solvers, also those that the signer gets later.
      ...(labels === undefined ? {} : { labels }),
      annotations: {
        [SIGNER_VERSION_ANNOTATION]: signerVersionOf(signer),
        ...(certificate === undefined ? {} : { [CERTIFICATE_NAME]: certificate }),
      },
      ...(kind === 'CertificateRequest' ? { ownerReferences: [owner] } : {}),
    },
    spec: {
      signerRef: refOfAcmeSigner(signer),
      requestRef: { kind, name, uid },
      ...asked,
      // Copies a frozen list, because the type is mutable.
      identifiers: [...asked.identifiers],
      attempt: init.attempt,
      renewal: before !== undefined,
      ...(before?.replaces === undefined ? {} : { replaces: before.replaces }),
    },
  };
}

/** Limit on an object name. The name of a request can have the same length. */
const MAX_NAME = 253;
const DIGEST = 10;

function orderName(request: string, attempted: number): string {
  const end = `-${attempted}`;
  if (request.length + end.length <= MAX_NAME) return request + end;
  const digest = createHash('sha256').update(request).digest('hex').slice(0, DIGEST);
  const kept = request.slice(0, MAX_NAME - end.length - DIGEST - 1).replace(/[-.]+$/, '');
  return `${kept}-${digest}${end}`;
}

/**
 * Returns the certificate to renew: the requester's newest valid one with these names. Its id is
 * used only once, because the server refuses to replace a certificate twice (RFC 9773 §5).
 */
function certificateBefore(
  ofRequester: readonly Order[],
  asked: OrderContents,
  now: number,
): { readonly replaces: string | undefined } | undefined {
  const orders = ofRequester.filter(({ spec }) => namesOf(spec) === namesOf(asked));
  const leaves = orders.flatMap((order) => leafOf(order) ?? []);
  const [newest] = leaves
    .filter(({ notAfter }) => notAfter > now)
    .toSorted((a, b) => b.notBefore - a.notBefore);
  if (newest === undefined) return undefined;
  const id = renewalId(newest);
  const isTaken = orders.some(
    ({ spec, status }) =>
      spec.replaces === id && status.state !== 'invalid' && status.state !== 'failed',
  );
  return { replaces: isTaken ? undefined : id };
}
