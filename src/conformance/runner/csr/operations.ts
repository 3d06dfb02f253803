// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { CSR_CALLS, type CsrOperation } from '#conformance/csr/snapshot.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { discover } from '../discovery-steps.ts';
import { type Run, runSignerName } from '../run.ts';
import { startRecorder } from '../recorder.ts';
import { ALL_VERBS, certificatesRule, signerRule } from '../permissions.ts';
import { skipSteps, runSteps } from '../steps.ts';
import { callSteps } from './api-calls.ts';
import { REQUESTS } from './requests.ts';

/** Makes upstream's calls of the API, on a signer name that only this run uses. */
export async function csrOperations(run: Run): Promise<Readonly<Record<CsrOperation, Operation>>> {
  const { plural } = REQUESTS;
  const signerName = runSignerName(run, 'operations');
  const discovery = await discover(run, REQUESTS, ['approval', 'status']);
  const missing = await run.permissions.missing(
    certificatesRule(ALL_VERBS, plural),
    certificatesRule(['get', 'patch', 'update'], `${plural}/approval`),
    certificatesRule(['get', 'patch', 'update'], `${plural}/status`),
    signerRule('approve', signerName),
    signerRule('sign', signerName),
  );
  if (missing !== undefined) return { ...skipSteps(CSR_CALLS, missing), ...discovery };
  const fieldSelector = `spec.signerName=${signerName}`;
  const recorder = await startRecorder<CertificateSigningRequest>(run, {
    resource: REQUESTS,
    fieldSelector,
    mayWatch: true,
  });
  try {
    const steps = await callSteps(run, recorder, signerName);
    return { ...(await runSteps(CSR_CALLS, steps)), ...discovery };
  } finally {
    await recorder.stop();
  }
}
