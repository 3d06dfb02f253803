// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { bits, explicit, int, printable, utf8, rdn, seq, utcTime, type Octets } from './der.ts';
import { privateKey, signatureBy, spkiOf } from './keys.ts';
import { ECDSA_SHA256 } from './request-der.ts';

export const COMMON_NAME = '2.5.4.3';

export interface CertificateDer {
  readonly version?: Octets;
  readonly serial?: Uint8Array;
  readonly innerAlgorithm?: Uint8Array;
  readonly issuer?: Uint8Array;
  readonly validity?: Uint8Array;
  readonly subject?: Uint8Array;
  readonly spki?: Uint8Array;
  readonly extensions?: readonly Uint8Array[];
  /** Instead of the whole `[3]`. */
  readonly extensionField?: Octets;
  readonly algorithm?: Uint8Array;
  readonly signature?: Uint8Array;
  readonly key?: KeyObject;
}

/** A Name of one common name. */
export const named = (commonName: string): Uint8Array =>
  seq(rdn(COMMON_NAME, printable(commonName)));

/** A name with any characters, as strangers write them. */
export const namedInUtf8 = (commonName: string): Uint8Array =>
  seq(rdn(COMMON_NAME, utf8(commonName)));

/**
 * A version 3 certificate, every part of which may be replaced; signed with P-256, and SHA-256 as
 * requestDer.
 */
export function certificateDer(parts: CertificateDer = {}): Uint8Array {
  const key = parts.key ?? privateKey('P-256');
  const algorithm = parts.algorithm ?? ECDSA_SHA256;
  const { extensions = [] } = parts;
  const tbs = seq(
    parts.version ?? explicit(0, int(2)),
    parts.serial ?? int(0x7f, 0x01),
    parts.innerAlgorithm ?? algorithm,
    parts.issuer ?? named('issuer'),
    parts.validity ?? seq(utcTime('260101000000Z'), utcTime('270101000000Z')),
    parts.subject ?? named('subject'),
    parts.spki ?? spkiOf(key),
    parts.extensionField ?? (extensions.length === 0 ? [] : explicit(3, seq(...extensions))),
  );
  return seq(tbs, algorithm, parts.signature ?? bits(signatureBy(key, tbs)));
}
