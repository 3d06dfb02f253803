// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../api/request/csr.ts';
import { CSR_CALLS, type CsrOperation } from '../../conformance/csr/snapshot.ts';
import type { Operation } from '../../conformance/snapshot.ts';
import { discover } from '../discovery-steps.ts';
import type { Kit } from '../run.ts';
import { ownSigner } from '../own-signer.ts';
import { record } from '../recorder.ts';
import { ALL_VERBS, may, maySigner } from '../permissions.ts';
import { skipSteps, takeSteps } from '../steps.ts';
import { callSteps } from './api-calls.ts';
import { REQUESTS } from './requests.ts';

/** Upstream's calls of the API, on a signer name that nobody else has. */
export async function csrOperations(kit: Kit): Promise<Readonly<Record<CsrOperation, Operation>>> {
  const { plural } = REQUESTS;
  const signerName = ownSigner(kit, 'operations');
  const discovery = await discover(kit, REQUESTS, ['approval', 'status']);
  const lacking = await kit.rights.lacking(
    may(ALL_VERBS, plural),
    may(['get', 'patch', 'update'], `${plural}/approval`),
    may(['get', 'patch', 'update'], `${plural}/status`),
    maySigner('approve', signerName),
    maySigner('sign', signerName),
  );
  if (lacking !== undefined) return { ...skipSteps(CSR_CALLS, lacking), ...discovery };
  const fieldSelector = `spec.signerName=${signerName}`;
  const recorder = await record<CertificateSigningRequest>(kit, {
    resource: REQUESTS,
    fieldSelector,
    mayWatch: true,
  });
  try {
    const steps = await callSteps(kit, recorder, signerName);
    return { ...(await takeSteps(CSR_CALLS, steps)), ...discovery };
  } finally {
    await recorder.stop();
  }
}
