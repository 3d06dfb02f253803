// SPDX-License-Identifier: Apache-2.0
import { createHash, type KeyObject } from 'node:crypto';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { TRUE, bits, extension, implicit, int, octets, oid, seq, type Octets } from './der.ts';
import { certificateDer, named, type CertificateDer } from './certificate-der.ts';
import { privateKey, spkiOf } from './keys.ts';

/** The middle of the validity that certificateDer writes. */
export const NOW = Date.UTC(2026, 5, 1);

/** A certificate with the key that belongs to it. */
export interface Link {
  readonly name: string;
  readonly key: KeyObject;
  readonly certificate: Certificate;
}

export interface LinkParts extends Omit<CertificateDer, 'key' | 'extensions'> {
  readonly extensions?: readonly Uint8Array[];
  /** The issuer; itself if absent. */
  readonly by?: { readonly name: string; readonly key: KeyObject };
  readonly key?: KeyObject;
}

/** A certificate of this name, issued `by` another. */
export function link(name: string, parts: LinkParts = {}): Link {
  const { by, key = privateKey('P-256', name), ...rest } = parts;
  const der = certificateDer({
    issuer: named(by?.name ?? name),
    subject: named(name),
    spki: spkiOf(key),
    ...rest,
    key: by?.key ?? key,
  });
  return { name, key, certificate: decodeCertificate(der) };
}

/** Critical basicConstraints with CA:TRUE. */
export const ca = (pathLen?: number): Uint8Array =>
  extension('2.5.29.19', seq(TRUE, ...(pathLen === undefined ? [] : [int(pathLen)])), true);

/** keyCertSign and cRLSign; or the bits given, as they are encoded. */
export const usage = (encoded: Octets = [0x06], unused = 1): Uint8Array =>
  extension('2.5.29.15', bits(encoded, unused), true);

export const purposes = (...oids: readonly string[]): Uint8Array =>
  extension('2.5.29.37', seq(...oids.map(oid)));

export const keyIds = (subject?: string, authority?: string): readonly Uint8Array[] => [
  ...(subject === undefined ? [] : [extension('2.5.29.14', octets(digest(subject)))]),
  ...(authority === undefined ? [] : [extension('2.5.29.35', seq(implicit(0, digest(authority))))]),
];

const digest = (text: string): Uint8Array => createHash('sha1').update(text).digest();

/** `[n]` names of a subjectAltName: 1 email, 2 DNS, 6 URI, 7 IP. */
export const san = (...names: readonly (readonly [number, string | Octets])[]): Uint8Array =>
  extension(
    '2.5.29.17',
    seq(
      ...names.map(([n, name]) => implicit(n, typeof name === 'string' ? Buffer.from(name) : name)),
    ),
  );
