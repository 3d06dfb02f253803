// SPDX-License-Identifier: Apache-2.0
import { encodePem } from '#pki/der/pem.ts';
import { refusalsOfPem } from '../request-refusals.ts';
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
import { formatTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { OID_CRL_NUMBER, OID_EXTENSION_REQUEST, OID_REASON_CODE } from '#pki/der/oids.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import { REVOCATION_REASONS } from '#base/vocabulary.ts';
import type { InspectedItem, InspectedKey, InspectedList } from './inspected.ts';
import { extensionsOf, hexOf, keyOfSpki, nameOf, signatureName } from './read-fields.ts';

/** Maximum number of CRL entries that are listed. */
const MAX_LISTED = 1000;

/**
 * Reads a DER certificate.
 *
 * @throws Error of pkijs
 */
export function readCertificateDer(der: Uint8Array, source: string): InspectedItem {
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
      ...refusal(attempt(() => decodeCertificate(der))),
    },
    der,
  };
}

/**
 * Reads a DER PKCS#10 request.
 *
 * @throws Error of pkijs
 */
export async function readRequestDer(der: Uint8Array, source: string): Promise<InspectedItem> {
  const request = CertificationRequest.fromBER(bufferOf(der));
  const values: readonly unknown[] = request.attributes?.find(isExtensionRequest)?.values ?? [];
  const [asked] = values;
  // pkijs throws unless the value has the shape of extensions.
  const schema = asked as Sequence | undefined;
  const extensions = schema === undefined ? [] : new Extensions({ schema }).extensions;
  const decoded = attempt(() => decodeRequest(der));
  return {
    what: {
      kind: 'request',
      source,
      subject: nameOf(request.subject),
      key: keyOf(request.subjectPublicKeyInfo),
      signatureAlgorithm: signatureName(request.signatureAlgorithm.algorithmId),
      isSignatureValid: verifies(decoded) || (await verifiesByPkijs(request)),
      ...extensionsOf(extensions),
      ...refusalOfRequest(encodePem('CERTIFICATE REQUEST', der)),
    },
    der,
  };
}

function verifies(decoded: ReturnType<typeof decodeRequest> | SignerError): boolean {
  if (decoded instanceof SignerError) return false;
  const problem = attempt(() => {
    verifyRequest(decoded);
  });
  return problem === undefined;
}

/** Verifies a request that the strict decoder rejects. pkijs lacks Ed25519, which kubelets use. */
function verifiesByPkijs(request: CertificationRequest): Promise<boolean> {
  const engine = new CryptoEngine({ name: 'node', crypto: webcrypto });
  return request.verify(engine).catch(() => false);
}

function isExtensionRequest({ type }: { readonly type: string }): boolean {
  return type === OID_EXTENSION_REQUEST;
}

/**
 * Reads a DER CRL.
 *
 * @throws Error of pkijs
 */
export function readListDer(der: Uint8Array, source: string): InspectedItem {
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

/** Returns the value of an extension that is an INTEGER or an ENUMERATED. */
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

function refusal(read: unknown): { readonly refusedBecause?: string } {
  return read instanceof SignerError ? { refusedBecause: read.message } : {};
}

/** Returns why every signer refuses a request. */
export function refusalOfRequest(pem: string): { readonly refusedBecause?: string } {
  const refusals = refusalsOfPem(pem).map(({ message }) => message);
  return refusals.length === 0 ? {} : { refusedBecause: refusals.join('; ') };
}

/** Returns a copy with its own ArrayBuffer, which pkijs requires. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
