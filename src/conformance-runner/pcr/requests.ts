// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import type { Trial } from '../../conformance/observed-request.ts';
import { messageOf } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { PcrPlan } from './plans.ts';
import type { Requester } from './requester.ts';
import { answered, trialOf } from './observed.ts';
import type { PcrKit } from './run.ts';

/** A request that was made; its trial is written when the kit has seen enough. */
export interface Made {
  readonly plan: PcrPlan;
  readonly trial: () => Trial;
}

/** Writes the request, and waits for what comes of it. */
export async function makeRequest(pcr: PcrKit, requester: Requester, plan: PcrPlan): Promise<Made> {
  const { kit, requests, recorder } = pcr;
  let created: PodCertificateRequest;
  try {
    created = await create(pcr, requester, plan);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const refusal = messageOf(error);
    return { plan, trial: () => trialOf(pcr, plan.asked, { refusal }) };
  }
  const at = kit.clock();
  const { uid } = created.metadata;
  recorder.note(created);
  if (plan.isDeleted === true) {
    await kit.client.request({ method: 'DELETE', path: requests.object(created.metadata) });
  } else if (plan.signerName === kit.signerName) {
    await answered(pcr, uid);
  }
  return { plan, trial: () => trialOf(pcr, plan.asked, { uid, at }) };
}

function create(
  { kit, requests }: PcrKit,
  { client, facts }: Requester,
  { scene, stub, asked, signerName, annotations, labels }: PcrPlan,
): Promise<PodCertificateRequest> {
  const unique = Buffer.from(kit.random(3)).toString('hex');
  const name = `conformance-${kit.run}-${scene.toLowerCase()}-${unique}`;
  const body = {
    kind: 'PodCertificateRequest',
    metadata: { name, namespace: kit.namespace, ...(labels && { labels, annotations: labels }) },
    spec: {
      ...facts,
      signerName,
      stubPKCS10Request: stub,
      // Left out, the API server sets a day.
      ...(scene === 'noLifetime' ? {} : { maxExpirationSeconds: asked.lifetimeSeconds }),
      ...(annotations && { unverifiedUserAnnotations: annotations }),
    },
  };
  return kit.own.create<PodCertificateRequest>(requests, body, client);
}
