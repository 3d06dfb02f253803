// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { NULL, bits, explicit, int, oid, seq, set, type Octets } from './der.ts';
import { privateKey, signatureBy, spkiOf } from './keys.ts';

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
export const ECDSA_SHA256 = seq(oid('1.2.840.10045.4.3.2'));
export const RSA_SHA256 = seq(oid('1.2.840.113549.1.1.11'), NULL);
export const ED25519 = seq(oid('1.3.101.112'));

export interface RequestDer {
  readonly version?: Uint8Array;
  readonly subject?: Uint8Array;
  readonly spki?: Uint8Array;
  /** Attribute by attribute. */
  readonly attributes?: readonly Uint8Array[];
  /** Instead of the whole `[0]`. */
  readonly attributeField?: Uint8Array;
  readonly algorithm?: Uint8Array;
  readonly signature?: Uint8Array;
  readonly key?: KeyObject;
  /** After the last field of the info, and of the request. */
  readonly afterInfo?: Octets;
  readonly after?: Octets;
}

/**
 * A PKCS#10 request, every part of which may be replaced; signed with P-256, and SHA-256 where the
 * key hashes not by itself.
 */
export function requestDer(parts: RequestDer = {}): Uint8Array {
  const key = parts.key ?? privateKey('P-256');
  const info = seq(
    parts.version ?? int(0),
    parts.subject ?? seq(),
    parts.spki ?? spkiOf(key),
    parts.attributeField ?? explicit(0, ...(parts.attributes ?? [])),
    parts.afterInfo ?? [],
  );
  const signature = parts.signature ?? bits(signatureBy(key, info));
  return seq(info, parts.algorithm ?? ECDSA_SHA256, signature, parts.after ?? []);
}

/** The extensionRequest attribute (RFC 2985 §5.4.2). */
export function extensionRequest(...extensions: readonly Uint8Array[]): Uint8Array {
  return seq(oid(EXTENSION_REQUEST), set(seq(...extensions)));
}
