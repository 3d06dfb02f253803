// SPDX-License-Identifier: Apache-2.0
/** Leaves for the judges: good ones, and every kind of bad one. */
import { randomBytes, type KeyObject } from 'node:crypto';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  type Extension,
} from '#pki/extensions/encode-extensions.ts';
import { keyIdentifier } from '#pki/keys/public-key.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { encodePem } from '#pki/der/pem.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';
import { usageBits } from '#pki/extensions/usages.ts';
import type { RequestedLeaf } from '#conformance/observed-request.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';

/** The moment at which all requests of the tests end. */
export const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 3600_000;

export interface Made {
  readonly certificate: Certificate;
  readonly pem: string;
  readonly key: KeyObject;
}

export interface Parts {
  readonly serial?: Uint8Array;
  readonly spki?: Uint8Array;
  readonly subject?: Uint8Array;
  readonly notBefore?: number;
  readonly notAfter?: number;
  /** Changes the extensions of a good leaf. */
  readonly extensions?: (good: readonly Extension[]) => readonly Extension[];
  readonly by?: Made;
}

/** The CA of every good leaf. */
export const ROOT = authority('Conformance root', 'root');

export function authority(name: string, which: string, parts: Parts = {}): Made {
  const key = privateKey('P-256', which);
  const spki = spkiOf(key);
  const subject = encodeName({ commonName: name, organizations: [], organizationalUnits: [] });
  const by = parts.by;
  const good = [
    keyUsage(['keyCertSign', 'cRLSign']),
    basicConstraints({ ca: true }),
    subjectKeyIdentifier(spki),
    ...(by === undefined
      ? []
      : [authorityKeyIdentifier(keyIdentifier(by.certificate.publicKey.spki))]),
  ];
  return make({
    subject: parts.subject ?? subject,
    issuer: by?.certificate.subject.raw ?? parts.subject ?? subject,
    spki,
    signer: by?.key ?? key,
    key,
    notBefore: parts.notBefore ?? NOW - 24 * HOUR,
    notAfter: parts.notAfter ?? NOW + 8760 * HOUR,
    serial: parts.serial ?? serial(),
    extensions: parts.extensions?.(good) ?? good,
  });
}

/** What a good signer makes of a request, but for `parts`. */
export function leaf(requested: RequestedLeaf, parts: Parts = {}): Made {
  const by = parts.by ?? ROOT;
  const { names } = requested;
  const lifetime = (requested.lifetimeSeconds ?? 3600) * 1000;
  const notBefore = parts.notBefore ?? NOW - 60_000;
  const bits = usageBits(requested.usages);
  const sans = [names.dnsNames, names.ipAddresses, names.uris, names.emails].some(
    (each) => each.length > 0,
  );
  const hasSubject = names.commonName !== '' || names.organizations.length > 0;
  const good = [
    keyUsage(bits.keyUsage.filter((bit) => bit !== 'keyCertSign' && bit !== 'keyEncipherment')),
    extKeyUsage(bits.extKeyUsage),
    basicConstraints({ ca: false }),
    authorityKeyIdentifier(keyIdentifier(by.certificate.publicKey.spki)),
    ...(sans ? [subjectAltName(names, !hasSubject)] : []),
  ];
  return make({
    subject: parts.subject ?? encodeName({ ...names, organizationalUnits: [] }),
    issuer: by.certificate.subject.raw,
    spki: parts.spki ?? requested.spki,
    signer: by.key,
    key: by.key,
    notBefore,
    notAfter: parts.notAfter ?? notBefore + lifetime,
    serial: parts.serial ?? serial(),
    extensions: parts.extensions?.(good) ?? good,
  });
}

function serial(): Uint8Array {
  return Uint8Array.of(0x40, ...randomBytes(15));
}

interface Whole {
  readonly subject: Uint8Array;
  readonly issuer: Uint8Array;
  readonly spki: Uint8Array;
  readonly signer: KeyObject;
  readonly key: KeyObject;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly serial: Uint8Array;
  readonly extensions: readonly Extension[];
}

function make({ signer, key, ...fields }: Whole): Made {
  const algorithm = signatureAlgorithm(signer);
  const tbs = encodeTbs({ ...fields, signatureAlgorithm: algorithm.der });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { certificate: decodeCertificate(der), pem: encodePem('CERTIFICATE', der), key };
}

/** The parts of a leaf that lacks the extensions of this type. */
export function without(type: string): Parts {
  return { extensions: (good) => good.filter(({ oid }) => oid !== type) };
}

/** The parts of a leaf that has these extensions in place of those of their types. */
export function instead(...changed: readonly Extension[]): Parts {
  const types = new Set(changed.map(({ oid }) => oid));
  return { extensions: (good) => [...good.filter(({ oid }) => !types.has(oid)), ...changed] };
}
