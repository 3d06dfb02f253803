// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import {
  PCR_SCENARIOS,
  type PcrOperation,
  type PcrScenario,
  type PcrSnapshot,
} from '#conformance/pcr/snapshot.ts';
import type { SkippedScenario } from '#conformance/observed-request.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { anchorsOf, certificatesResource } from '../anchors.ts';
import type { Run } from '../run.ts';
import { podOf, refusalOf } from '../pods.ts';
import { startRecorder } from '../recorder.ts';
import { certificatesRule, coreRule } from '../permissions.ts';
import { SignerError } from '#base/errors.ts';
import { mutualTls } from './mutual-tls.ts';
import { pcrOperations } from './api-calls.ts';
import { pcrPlans, type PcrPlan } from './plans.ts';
import { findRequester, type PcrRequester } from './requester.ts';
import { HOUR_SECONDS } from '../plans.ts';
import { burstOf, createAll, scenariosOf, type PlannedRequest } from '../requests.ts';
import { makeRequest } from './requests.ts';
import type { PcrRun } from './run.ts';
import { makeServices } from './services.ts';
import { mountVolume, sourcesOf, type MountedVolume } from './volumes.ts';

/** The maximum of PodCertificateRequestSpec.maxExpirationSeconds: 91 days. */
const MAX_EXPIRATION_SECONDS = 91 * 24 * HOUR_SECONDS;

/**
 * Observes a signer of PodCertificateRequests. @throws KubeError or SignerError when no call
 * succeeds
 */
export async function observePcr(run: Run): Promise<PcrSnapshot> {
  const requests = await certificatesResource(run, 'podcertificaterequests');
  if (requests === undefined) {
    throw new SignerError({
      code: 'KUBE_NOT_FOUND',
      disposition: 'wait',
      message: 'this API server serves no podcertificaterequests.certificates.k8s.io',
    });
  }
  const { namespace } = run;
  const mayWatch =
    (await run.permissions.missing(
      certificatesRule(['list', 'watch'], requests.plural, namespace),
    )) === undefined;
  const recorder = await startRecorder<PodCertificateRequest>(run, {
    resource: requests,
    namespace,
    mayWatch,
  });
  const pcr: PcrRun = { run, requests, recorder };
  const begun = run.clock();
  try {
    run.progress('making pods with podCertificate volumes');
    const operations = pcrOperations(pcr);
    const plans = pcrPlans(run);
    // Awaited later. An interrupted run never awaits them, and their rejection must not end the
    // process.
    for (const each of [operations, plans]) each.catch(() => undefined);
    const [pod, podDefault, podAnnotated, podUnserved] = await mountAll(pcr);
    const requester = await findRequester(pcr, pod.request ?? podDefault.request);
    const made = 'skipped' in requester ? requester : await makeAll(pcr, requester, await plans);
    await run.delay(Math.max(0, begun + run.quietMs - run.clock()), run.signal);
    const own = scenariosOf(PCR_SCENARIOS, made);
    const anchors = await anchorsOf(run);
    return {
      signerName: run.signerName,
      profile: run.profile,
      anchors,
      scenarios: {
        ...own,
        pod: pod.observed(),
        podDefault: podDefault.observed(),
        podAnnotated: podAnnotated.observed(),
        podUnserved: podUnserved.observed(),
      },
      burst: burstOf(made),
      operations: {
        ...(await operations),
        podStarts: pod.starts,
        annotationsArrive: annotationsArrive(run, podAnnotated),
        mutualTls: await mutualTls(run, anchors, [
          { scenario: own.plain, key: keyOf(made, 'plain') },
          { scenario: own.again, key: keyOf(made, 'again') },
        ]),
        ...(await bounds(pcr)),
      },
    };
  } finally {
    await recorder.stop();
  }
}

async function mountAll(
  pcr: PcrRun,
): Promise<readonly [MountedVolume, MountedVolume, MountedVolume, MountedVolume]> {
  const { annotations } = pcr.run.profile;
  const services = await makeServices(pcr.run);
  const { names } = services;
  return Promise.all([
    mountVolume(pcr, { name: 'pod', maxExpirationSeconds: HOUR_SECONDS, trust: true, services }),
    mountVolume(pcr, { name: 'default', services }),
    annotations === undefined
      ? none('the profile names no annotations')
      : mountVolume(pcr, { name: 'annotated', userAnnotations: annotations, services }),
    names === undefined
      ? none(services.skipped ?? '')
      : mountVolume(pcr, { name: 'unserved', services: { labels: {}, names }, mayWait: true }),
  ]);
}

function none(skipped: string): MountedVolume {
  return { observed: () => ({ skipped }), starts: { skipped } };
}

async function makeAll(
  pcr: PcrRun,
  requester: PcrRequester,
  plans: readonly PcrPlan[],
): Promise<readonly PlannedRequest<PcrPlan>[]> {
  pcr.run.progress(`writing ${plans.length} requests for pod ${requester.pod.podName}`);
  return createAll(plans, (plan) => makeRequest(pcr, requester, plan));
}

function keyOf(
  made: readonly PlannedRequest<PcrPlan>[] | SkippedScenario,
  scenario: PcrScenario,
): PcrPlan['key'] | undefined {
  if ('skipped' in made) return undefined;
  return made.find(({ plan }) => plan.scenario === scenario)?.plan.key;
}

function annotationsArrive({ profile }: Run, { request, starts }: MountedVolume): Operation {
  if (request === undefined) return { skipped: starts.skipped ?? 'there is no request' };
  const found = JSON.stringify(request.spec.unverifiedUserAnnotations ?? {});
  const wanted = JSON.stringify(profile.annotations);
  return found === wanted ? { seen: found } : { fault: `${found}, not ${wanted}` };
}

/** Tests volumes with a lifetime that is too long and too short. Stores nothing. */
async function bounds(
  pcr: PcrRun,
): Promise<Readonly<Record<Extract<PcrOperation, 'tooLong' | 'tooShort'>, Operation>>> {
  const { run } = pcr;
  const missing = await run.permissions.missing(coreRule(['create'], 'pods', run.namespace));
  if (missing !== undefined)
    return { tooLong: { skipped: missing }, tooShort: { skipped: missing } };
  const refused = async (maxExpirationSeconds: number, words: string): Promise<Operation> => {
    const sources = sourcesOf(pcr, { name: 'bounds', maxExpirationSeconds });
    const message = await refusalOf(run, podOf(run, 'bounds', [sources]));
    if (message === undefined) return { fault: `${maxExpirationSeconds} s were accepted` };
    return message.includes(words)
      ? { seen: words }
      : { fault: `refused for another reason: ${message}` };
  };
  return {
    tooLong: await refused(MAX_EXPIRATION_SECONDS + 1, `must be <= ${MAX_EXPIRATION_SECONDS}`),
    tooShort: await refused(HOUR_SECONDS - 1, `must be >= ${HOUR_SECONDS}`),
  };
}
