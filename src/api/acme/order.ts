// SPDX-License-Identifier: Apache-2.0
/** `acme.countersign.dev/v1alpha1` Order. The schema is deploy/crds/acme/orders.yaml. */
import * as z from 'zod';
import { invalidShape } from '../signer/invalid-spec.ts';
import type { KubeObject } from '../object/object.ts';
import { REVOCATION_CODES } from './names.ts';
import { instant, objectName, serverUrl, signerRef, text, token, waiting } from './fields.ts';
import { keysOf } from '#base/object-keys.ts';

/**
 * Reason of an Order that ended because the CA issued a certificate that the signer does not allow.
 * No other Order follows until the signer changes.
 */
export const WRONG_CERTIFICATE = 'WrongCertificate';

/**
 * Reason of an Order that ended because the CA returns no request of this signer a certificate that
 * the signer allows.
 */
export const CA_UNUSABLE = 'CaUnusable';

export const ORDER_SPEC = z.object({
  signerRef,
  /** A CertificateRequest is in the same namespace. */
  requestRef: z.object({
    kind: z.enum(['CertificateSigningRequest', 'CertificateRequest']),
    name: objectName,
    uid: text(64),
  }),
  /** base64 of the DER of the PKCS#10 request. */
  request: text(65_536).regex(/^[A-Za-z0-9+/]+={0,2}$/),
  identifiers: z
    .array(z.object({ type: z.enum(['dns', 'ip']), value: text(255) }))
    .min(1)
    .max(100),
  /** Number of the attempt, from 1. */
  attempt: z.int().min(1).max(2_147_483_647),
  profile: text(64).exactOptional(),
  /** RFC 9773 id. */
  replaces: text(512)
    .regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/)
    .exactOptional(),
  renewal: z.boolean().default(false),
});

const authorization = z.object({
  url: serverUrl,
  /** Without `*.` for a wildcard. */
  name: text(253),
  wildcard: z.boolean().exactOptional(),
  /** The name was proved before this Order. */
  wasValid: z.boolean().exactOptional(),
  /** Challenges that the server offers. */
  offered: z
    .array(z.object({ type: text(64), url: serverUrl, token: token.exactOptional() }))
    .max(32)
    .exactOptional(),
});

/** RFC 9773. */
const renewal = z.object({
  windowStart: instant.exactOptional(),
  windowEnd: instant.exactOptional(),
  explanationURL: text(2048).exactOptional(),
  renewAt: instant.exactOptional(),
  checkAt: instant.exactOptional(),
  reason: text(64).exactOptional(),
  message: text(4096).exactOptional(),
  markedAt: instant.exactOptional(),
});

const REASONS = keysOf(REVOCATION_CODES);

/** RFC 8555 §7.6. */
const revocation = z.object({
  /** Reason in the annotation. Absent if the annotation has no known reason. */
  asked: z.enum(REASONS).exactOptional(),
  state: z.enum(['pending', 'revoked', 'refused']),
  ...waiting,
});

export const ORDER_STATUS = z.object({
  /**
   * `failed`: no retry can answer the request. The other states are the server's (RFC 8555 §7.1.6).
   */
  state: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid', 'failed']).exactOptional(),
  ...waiting,
  url: serverUrl.exactOptional(),
  /** Account that created the order: no other one may call it. */
  accountURL: serverUrl.exactOptional(),
  replacesRefused: z.boolean().exactOptional(),
  authorizations: z.array(authorization).max(100).exactOptional(),
  /** PEM, leaf first. */
  certificate: text(262_144).exactOptional(),
  renewal: renewal.exactOptional(),
  revocation: revocation.exactOptional(),
});

export type OrderSpec = z.output<typeof ORDER_SPEC>;
/** `acme` is the only writer. */
export type OrderObjectStatus = z.output<typeof ORDER_STATUS>;

/** One attempt to get the certificate of one request. */
export interface Order extends KubeObject {
  readonly spec: OrderSpec;
  readonly status: OrderObjectStatus;
}

/** @throws SignerError SPEC_INVALID, which only a user who may write CRDs can cause */
export function readOrder(object: KubeObject & { readonly status?: unknown }): Order {
  const { spec, status = {} } = object;
  const read = z.object({ spec: ORDER_SPEC, status: ORDER_STATUS }).safeParse({ spec, status });
  if (!read.success) throw invalidShape(object, read.error, 'order');
  return { ...object, ...read.data };
}
