// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import type { ObservedRequest } from '../../conformance/observed-request.ts';
import { messageOf } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { PcrPlan } from './plans.ts';
import type { Requester } from './requester.ts';
import { answered, observedRequest } from './observed.ts';
import type { PcrRun } from './run.ts';

/** A request that was made; `observed` is read when the run ends. */
export interface PlannedRequest {
  readonly plan: PcrPlan;
  readonly observed: () => ObservedRequest;
}

/** Writes the request, and waits for what comes of it. */
export async function makeRequest(
  pcr: PcrRun,
  requester: Requester,
  plan: PcrPlan,
): Promise<PlannedRequest> {
  const { run, requests, recorder } = pcr;
  let created: PodCertificateRequest;
  try {
    created = await create(pcr, requester, plan);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const rejection = messageOf(error);
    return { plan, observed: () => observedRequest(pcr, plan.requested, { rejection }) };
  }
  const at = run.clock();
  const { uid } = created.metadata;
  recorder.add(created);
  if (plan.isDeleted === true) {
    await run.client.request({ method: 'DELETE', path: requests.object(created.metadata) });
  } else if (plan.signerName === run.signerName) {
    await answered(pcr, uid);
  }
  return { plan, observed: () => observedRequest(pcr, plan.requested, { uid, at }) };
}

function create(
  { run, requests }: PcrRun,
  { client, pod: facts }: Requester,
  { scenario, stub, requested, signerName, annotations, labels }: PcrPlan,
): Promise<PodCertificateRequest> {
  const unique = Buffer.from(run.random(3)).toString('hex');
  const name = `conformance-${run.id}-${scenario.toLowerCase()}-${unique}`;
  const body = {
    kind: 'PodCertificateRequest',
    metadata: { name, namespace: run.namespace, ...(labels && { labels, annotations: labels }) },
    spec: {
      ...facts,
      signerName,
      stubPKCS10Request: stub,
      // Left out, the API server sets a day.
      ...(scenario === 'noLifetime' ? {} : { maxExpirationSeconds: requested.lifetimeSeconds }),
      ...(annotations && { unverifiedUserAnnotations: annotations }),
    },
  };
  return run.created.create<PodCertificateRequest>(requests, body, client);
}
