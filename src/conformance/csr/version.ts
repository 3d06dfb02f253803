// SPDX-License-Identifier: Apache-2.0
import { hasTrueCondition } from '#api/request/conditions.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { immutableFieldsOf, type ObjectVersion, type RequestState } from '../observed-request.ts';

/** Returns a version of a CertificateSigningRequest, `at` milliseconds after its creation. */
export function csrVersion(csr: CertificateSigningRequest, at: number): ObjectVersion {
  const certificate = csr.status?.certificate ?? '';
  return {
    at,
    resourceVersion: csr.metadata.resourceVersion,
    state: stateOf(csr),
    conditions: csr.status?.conditions ?? [],
    pem: Buffer.from(certificate, 'base64').toString('latin1'),
    immutableFields: immutableFieldsOf(csr),
  };
}

function stateOf({ status }: CertificateSigningRequest): RequestState {
  if ((status?.certificate ?? '') !== '') return 'issued';
  if (hasTrueCondition(status?.conditions, 'Failed')) return 'failed';
  if (hasTrueCondition(status?.conditions, 'Denied')) return 'denied';
  return hasTrueCondition(status?.conditions, 'Approved') ? 'approved' : 'pending';
}
