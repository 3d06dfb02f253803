// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { AnyRequest, Kind } from '../lab/wanted.ts';

/** The leaf that a request was answered with; undefined where it has none. */
export function leafOf(kind: Kind, request: AnyRequest): X509Certificate | undefined {
  const { status } = request as CertificateSigningRequest & PodCertificateRequest;
  const text =
    kind === 'pcr'
      ? (status?.certificateChain ?? '')
      : Buffer.from(status?.certificate ?? '', 'base64').toString('latin1');
  return text === '' ? undefined : new X509Certificate(text);
}

/** Lower-case hex, without leading zeros of the DER: as OpenSSL reads it. */
export function serialOf(leaf: X509Certificate): string {
  return leaf.serialNumber.toLowerCase();
}

/** What is wrong with the leaf, by OpenSSL's reading; undefined: nothing. */
export function faultOfLeaf(
  kind: Kind,
  request: AnyRequest,
  leaf: X509Certificate,
  ca: X509Certificate,
): string | undefined {
  if (!leaf.checkIssued(ca) || !leaf.verify(ca.publicKey)) return 'it does not verify with the CA';
  if (leaf.ca) return 'it is a CA';
  // A request holds its key in the very bytes that the certificate has to hold.
  const key = leaf.publicKey.export({ type: 'spki', format: 'der' });
  if (!requestBytes(kind, request).includes(key)) return 'it has another key than its request';
  if (Date.parse(leaf.validFrom) > Date.now()) return 'it is not valid yet';
  if (Date.parse(leaf.validTo) < Date.now()) return 'it has expired';
  return kind === 'pcr' ? faultOfTimes(request as PodCertificateRequest, leaf) : undefined;
}

function faultOfTimes(
  { status }: PodCertificateRequest,
  leaf: X509Certificate,
): string | undefined {
  const same =
    Date.parse(leaf.validFrom) === Date.parse(status?.notBefore ?? '') &&
    Date.parse(leaf.validTo) === Date.parse(status?.notAfter ?? '');
  return same ? undefined : 'its times are not those of the status';
}

function requestBytes(kind: Kind, request: AnyRequest): Buffer {
  const { spec } = request as CertificateSigningRequest & PodCertificateRequest;
  if (kind === 'pcr') return Buffer.from(spec.stubPKCS10Request ?? '', 'base64');
  const pem = Buffer.from(spec.request, 'base64').toString('latin1');
  return Buffer.from(pem.replace(/-----[^-]*-----/g, ''), 'base64');
}
