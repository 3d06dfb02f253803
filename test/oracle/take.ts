// SPDX-License-Identifier: Apache-2.0
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { findViolations } from '#ca/policy/violations/index.ts';
import { KEY_TYPES, REQUEST_FIELDS } from '#base/vocabulary.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Case } from './corpus/case.ts';
import { ourRequestPem, ourWholeRequest } from './ours.ts';

/** Takes a file in as far as we do; the message of what refuses it, or undefined. */
export function take(kind: Case['kind'], bytes: Uint8Array): string | undefined {
  if (kind === 'request') return takeRequest(bytes);
  if (kind === 'certificate') {
    const found = attempt(() => decodeCertificate(bytes));
    return found instanceof SignerError ? found.message : undefined;
  }
  const { der, error } = ourRequestPem(Buffer.from(bytes).toString('latin1'));
  return der === undefined ? error?.message : takeRequest(der);
}

/** A signer that copies everything: every name is looked at by every rule. */
const PROFILE = { keyTypes: KEY_TYPES, usages: ['client auth'], copy: REQUEST_FIELDS } as const;

/**
 * Decoded and verified, then what no spec can switch off: whatever a signer does with any request.
 */
function takeRequest(bytes: Uint8Array): string | undefined {
  const { error } = ourWholeRequest(bytes);
  const request = attempt(() => decodeRequest(bytes));
  if (request instanceof SignerError) return error?.message;
  const spec = { request: '', signerName: 'example.com/a', usages: ['client auth'] };
  const csr = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {
      name: 'a',
      uid: 'a',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec,
  };
  const found = findViolations({ csr, request, profile: PROFILE, reservedPrefixes: [] });
  return found.at(0)?.message ?? error?.message;
}
