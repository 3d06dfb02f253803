// SPDX-License-Identifier: Apache-2.0
import { hasTrueCondition } from '../../api/request/conditions.ts';
import type { CertificateSigningRequest } from '../../api/request/csr.ts';
import { frameOf } from '../frame.ts';
import type { Snapshot, State } from '../observed-request.ts';

/** A version of a CertificateSigningRequest, `at` milliseconds after its creation. */
export function csrSnapshot(csr: CertificateSigningRequest, at: number): Snapshot {
  const certificate = csr.status?.certificate ?? '';
  return {
    at,
    resourceVersion: csr.metadata.resourceVersion,
    state: stateOf(csr),
    conditions: csr.status?.conditions ?? [],
    pem: Buffer.from(certificate, 'base64').toString('latin1'),
    frame: frameOf(csr),
  };
}

function stateOf({ status }: CertificateSigningRequest): State {
  if ((status?.certificate ?? '') !== '') return 'issued';
  if (hasTrueCondition(status?.conditions, 'Failed')) return 'failed';
  if (hasTrueCondition(status?.conditions, 'Denied')) return 'denied';
  return hasTrueCondition(status?.conditions, 'Approved') ? 'approved' : 'pending';
}
