// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { pcrVersion } from '#conformance/pcr/version.ts';
import { createPlanned, requestName, type PlannedRequest } from '../requests.ts';
import type { PcrPlan } from './plans.ts';
import type { PcrRequester } from './requester.ts';
import { untilAnswered, type PcrRun } from './run.ts';

/** Creates the request and waits for its answer. @throws KubeError when a call fails */
export function makeRequest(
  pcr: PcrRun,
  requester: PcrRequester,
  plan: PcrPlan,
): Promise<PlannedRequest<PcrPlan>> {
  const { run, requests, recorder } = pcr;
  return createPlanned(plan, {
    run,
    recorder,
    missing: undefined,
    create: () => create(pcr, requester, plan),
    treat: async ({ metadata }) => {
      if (plan.isDeleted === true) {
        await run.client.request({ method: 'DELETE', path: requests.object(metadata) });
      } else if (plan.signerName === run.signerName) {
        await untilAnswered(pcr, metadata.uid);
      }
      return 0;
    },
    version: pcrVersion,
  });
}

function create(
  { run, requests }: PcrRun,
  { client, pod }: PcrRequester,
  { scenario, stub, requested, signerName, annotations, labels }: PcrPlan,
): Promise<PodCertificateRequest> {
  const name = requestName(run, scenario);
  const body = {
    kind: 'PodCertificateRequest',
    metadata: { name, namespace: run.namespace, ...(labels && { labels, annotations: labels }) },
    spec: {
      ...pod,
      signerName,
      stubPKCS10Request: stub,
      // The API server defaults this to 24 hours.
      ...(scenario === 'noLifetime' ? {} : { maxExpirationSeconds: requested.lifetimeSeconds }),
      ...(annotations && { unverifiedUserAnnotations: annotations }),
    },
  };
  return run.created.create<PodCertificateRequest>(requests, body, client);
}
