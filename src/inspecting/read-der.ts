// SPDX-License-Identifier: Apache-2.0
import { createHash, webcrypto } from 'node:crypto';
import type { Sequence } from 'asn1js';
import {
  Certificate,
  CertificateRevocationList,
  CertificationRequest,
  CryptoEngine,
  Extensions,
  type Extension,
  type PublicKeyInfo,
  type RevokedCertificate,
} from 'pkijs';
import { formatTime } from '../api/object/time.ts';
import { SignerError, attempt } from '../errors.ts';
import { OID_CRL_NUMBER, OID_EXTENSION_REQUEST, OID_REASON_CODE } from '../pki/der/oids.ts';
import { decodeCertificate } from '../pki/x509/certificate.ts';
import { decodeRequest } from '../pki/x509/pkcs10.ts';
import { REVOCATION_REASONS } from '../vocabulary.ts';
import type { Found, InspectedKey, InspectedList } from './inspected.ts';
import { extensionsOf, hexOf, keyOfSpki, nameOf, signatureName } from './read-fields.ts';

/** Entries of a CRL that are listed. */
const MAX_LISTED = 1000;

/** A DER certificate. @throws Error of pkijs */
export function readCertificateDer(der: Uint8Array, source: string): Found {
  const certificate = Certificate.fromBER(bufferOf(der));
  return {
    what: {
      kind: 'certificate',
      source,
      subject: nameOf(certificate.subject),
      issuer: nameOf(certificate.issuer),
      serial: hexOf(certificate.serialNumber),
      version: certificate.version + 1,
      notBefore: formatTime(certificate.notBefore.value.getTime()),
      notAfter: formatTime(certificate.notAfter.value.getTime()),
      key: keyOf(certificate.subjectPublicKeyInfo),
      signatureAlgorithm: signatureName(certificate.signatureAlgorithm.algorithmId),
      fingerprint: `sha256:${createHash('sha256').update(der).digest('hex')}`,
      ...extensionsOf(certificate.extensions ?? []),
      ...refusal(() => decodeCertificate(der)),
    },
    der,
  };
}

/** A DER PKCS#10 request. @throws Error of pkijs */
export async function readRequestDer(der: Uint8Array, source: string): Promise<Found> {
  const request = CertificationRequest.fromBER(bufferOf(der));
  const values: readonly unknown[] = request.attributes?.find(isExtensionRequest)?.values ?? [];
  const [asked] = values;
  const extensions =
    asked === undefined ? [] : new Extensions({ schema: asked as Sequence }).extensions;
  const engine = new CryptoEngine({ name: 'node', crypto: webcrypto });
  const isSignatureValid = await request.verify(engine).catch(() => false);
  return {
    what: {
      kind: 'request',
      source,
      subject: nameOf(request.subject),
      key: keyOf(request.subjectPublicKeyInfo),
      signatureAlgorithm: signatureName(request.signatureAlgorithm.algorithmId),
      isSignatureValid,
      ...extensionsOf(extensions),
      ...refusal(() => decodeRequest(der)),
    },
    der,
  };
}

function isExtensionRequest({ type }: { readonly type: string }): boolean {
  return type === OID_EXTENSION_REQUEST;
}

/** A DER CRL. @throws Error of pkijs */
export function readListDer(der: Uint8Array, source: string): Found {
  const list = CertificateRevocationList.fromBER(bufferOf(der));
  const { nextUpdate, revokedCertificates: revoked = [], crlExtensions } = list;
  const number = integerOf(crlExtensions?.extensions, OID_CRL_NUMBER);
  return {
    what: {
      kind: 'crl',
      source,
      issuer: nameOf(list.issuer),
      thisUpdate: formatTime(list.thisUpdate.value.getTime()),
      ...(nextUpdate === undefined ? {} : { nextUpdate: formatTime(nextUpdate.value.getTime()) }),
      ...(number === undefined ? {} : { number: String(number) }),
      signatureAlgorithm: signatureName(list.signatureAlgorithm.algorithmId),
      revoked: revoked.slice(0, MAX_LISTED).map(entryOf),
      revokedCount: revoked.length,
    },
    der,
  };
}

function entryOf(entry: RevokedCertificate): InspectedList['revoked'][number] {
  const code = integerOf(entry.crlEntryExtensions?.extensions, OID_REASON_CODE);
  const named = Object.entries(REVOCATION_REASONS).find(([, value]) => BigInt(value) === code)?.[0];
  return {
    serial: hexOf(entry.userCertificate),
    at: formatTime(entry.revocationDate.value.getTime()),
    ...(code === undefined ? {} : { reason: named ?? String(code) }),
  };
}

/** The contents of an extension that is an INTEGER or an ENUMERATED. */
function integerOf(all: readonly Extension[] | undefined, oid: string): bigint | undefined {
  const found = all?.find(({ extnID }) => extnID === oid);
  if (found === undefined) return undefined;
  const [, length = 0, ...octets] = new Uint8Array(found.extnValue.getValue());
  const digits = Buffer.from(octets.slice(0, length)).toString('hex');
  return digits === '' ? undefined : BigInt(`0x${digits}`);
}

function keyOf(info: PublicKeyInfo): InspectedKey {
  return keyOfSpki(new Uint8Array(info.toSchema().toBER(false)), info.algorithm.algorithmId);
}

function refusal(strictly: () => unknown): { readonly refusedBecause?: string } {
  const read = attempt(strictly);
  return read instanceof SignerError ? { refusedBecause: read.message } : {};
}

/** A copy that is an ArrayBuffer of its own, which is what pkijs takes. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
