// SPDX-License-Identifier: Apache-2.0
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { encodeTbs } from '#pki/x509/encode-certificate.ts';
import { decodeTbs } from '#pki/x509/certificate.ts';
import type { Extension } from '#pki/extensions/encode-extensions.ts';

/** Fields of a to-be-signed certificate in place of the good ones. */
export interface Changed {
  readonly extensions?: readonly Extension[];
  readonly notAfter?: number;
  readonly subject?: Uint8Array;
  readonly serial?: Uint8Array;
}

/** Makes bad certificates from the good one: each differs from it in one thing. */
export interface TbsChanges {
  /** Returns the good certificate with these fields. */
  readonly changed: (fields: Changed) => Uint8Array;
  /** Leaves out an extension, and adds others. */
  readonly but: (oid: string, ...others: readonly Extension[]) => Changed;
  /** Makes a critical extension not critical, or the other way round. */
  readonly turned: (oid: string) => Changed;
}

/**
 * @param good - a to-be-signed certificate of `issuer`, DER
 * @param spki - its SubjectPublicKeyInfo, DER
 */
export function changesOf(good: Uint8Array, spki: Uint8Array, issuer: AuthorityFacts): TbsChanges {
  const read = decodeTbs(good);
  return {
    changed: (fields) =>
      encodeTbs({
        serial: read.serial,
        signatureAlgorithm: issuer.signatureAlgorithm,
        issuer: issuer.subject,
        notBefore: read.notBefore,
        notAfter: read.notAfter,
        subject: read.subject.raw,
        spki,
        extensions: read.extensions,
        ...fields,
      }),
    but: (oid, ...others) => ({
      extensions: [...read.extensions.filter((each) => each.oid !== oid), ...others],
    }),
    turned: (oid) => ({
      extensions: read.extensions.map((each) =>
        each.oid === oid ? { ...each, critical: !each.critical } : each,
      ),
    }),
  };
}
