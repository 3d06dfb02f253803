// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { isSkipped, firstOf, type ScenarioResult } from '#conformance/observed-request.ts';
import { certificatesResource } from '../anchors.ts';
import { csrBurst } from '../csr/plans.ts';
import { REQUESTS, makeRequest } from '../csr/requests.ts';
import { whoami } from '../csr/client-authentication.ts';
import type { Run } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { lackingForPods, mountVolume } from '../pcr/volumes.ts';
import { startRecorder } from '../recorder.ts';
import { certificatesRule } from '../permissions.ts';

/** The time for a signer that serves this kind of request. Other signers never answer. */
const PATIENCE_MS = 10_000;

/** Returns a certificate of the signer, for a pod, or for a request if it issues none for pods. */
export async function leafOf(run: Run): Promise<ScenarioResult> {
  const shortRun = { ...run, timeoutMs: Math.min(run.timeoutMs, PATIENCE_MS) };
  const podResult = await podLeaf(shortRun);
  return isIssued(podResult) ? podResult : requestLeaf(shortRun, podResult);
}

function isIssued(scenario: ScenarioResult): boolean {
  return !isSkipped(scenario) && firstOf(scenario, 'issued') !== undefined;
}

async function podLeaf(run: Run): Promise<ScenarioResult> {
  const requests = await certificatesResource(run, 'podcertificaterequests');
  if (requests === undefined) return { skipped: 'the API server has no PodCertificateRequests' };
  const { namespace } = run;
  const missing = await lackingForPods({ run, requests });
  if (missing !== undefined) return { skipped: missing };
  const recorder = await startRecorder<PodCertificateRequest>(run, {
    resource: requests,
    namespace,
    mayWatch: true,
  });
  try {
    const { observed } = await mountVolume({ run, requests, recorder }, { name: 'leaf' });
    return observed();
  } finally {
    await recorder.stop();
  }
}

async function requestLeaf(run: Run, podResult: ScenarioResult): Promise<ScenarioResult> {
  const missing = await run.permissions.missing(
    certificatesRule(['create', 'get'], REQUESTS.plural),
  );
  if (missing !== undefined)
    return isSkipped(podResult) ? { skipped: `${podResult.skipped}; ${missing}` } : podResult;
  const mayWatch =
    (await run.permissions.missing(certificatesRule(['list', 'watch'], REQUESTS.plural))) ===
    undefined;
  const labelSelector = `${RUN_LABEL}=${run.id}`;
  const recorder = await startRecorder<CertificateSigningRequest>(run, {
    resource: REQUESTS,
    labelSelector,
    mayWatch,
  });
  try {
    const [plan] = await csrBurst(run, (await whoami(run.client)).username);
    if (plan === undefined) return podResult;
    const { observed } = await makeRequest(run, recorder, plan);
    return observed();
  } finally {
    await recorder.stop();
  }
}
