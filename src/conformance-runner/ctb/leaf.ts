// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../api/request/csr.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { isSkipped, firstOf, type Scene } from '../../conformance/observed-request.ts';
import { certificatesResource } from '../anchors.ts';
import { csrBurst } from '../csr/plans.ts';
import { REQUESTS, makeRequest } from '../csr/requests.ts';
import { whoami } from '../csr/client-authentication.ts';
import type { Kit } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { lackingForPods, mountVolume } from '../pcr/volumes.ts';
import { record } from '../recorder.ts';
import { may } from '../permissions.ts';

/** Long enough for a signer that serves this kind of requests; of the others one does not. */
const PATIENCE_MS = 10_000;

/** A certificate of the signer: of a pod or, where it issues none for pods, of a request. */
export async function leafOf(kit: Kit): Promise<Scene> {
  const hasty = { ...kit, timeoutMs: Math.min(kit.timeoutMs, PATIENCE_MS) };
  const pods = await podLeaf(hasty);
  return isIssued(pods) ? pods : requestLeaf(hasty, pods);
}

function isIssued(scene: Scene): boolean {
  return !isSkipped(scene) && firstOf(scene, 'issued') !== undefined;
}

async function podLeaf(kit: Kit): Promise<Scene> {
  const requests = await certificatesResource(kit, 'podcertificaterequests');
  if (requests === undefined) return { skipped: 'the API server has no PodCertificateRequests' };
  const { namespace } = kit;
  const lacking = await lackingForPods({ kit, requests });
  if (lacking !== undefined) return { skipped: lacking };
  const recorder = await record<PodCertificateRequest>(kit, {
    resource: requests,
    namespace,
    mayWatch: true,
  });
  try {
    const { scene } = await mountVolume({ kit, requests, recorder }, { name: 'leaf' });
    return scene();
  } finally {
    await recorder.stop();
  }
}

async function requestLeaf(kit: Kit, pods: Scene): Promise<Scene> {
  const lacking = await kit.rights.lacking(may(['create', 'get'], REQUESTS.plural));
  if (lacking !== undefined)
    return isSkipped(pods) ? { skipped: `${pods.skipped}; ${lacking}` } : pods;
  const mayWatch =
    (await kit.rights.lacking(may(['list', 'watch'], REQUESTS.plural))) === undefined;
  const labelSelector = `${RUN_LABEL}=${kit.run}`;
  const recorder = await record<CertificateSigningRequest>(kit, {
    resource: REQUESTS,
    labelSelector,
    mayWatch,
  });
  try {
    const [plan] = await csrBurst(kit, (await whoami(kit.client)).username);
    if (plan === undefined) return pods;
    const { trial } = await makeRequest(kit, recorder, plan);
    return trial();
  } finally {
    await recorder.stop();
  }
}
