// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import {
  PCR_SCENARIOS,
  type PcrOperation,
  type PcrScenario,
  type PcrSnapshot,
} from '../../conformance/pcr/snapshot.ts';
import type { Observation, Skipped, ObservedRequest } from '../../conformance/observed-request.ts';
import type { Operation } from '../../conformance/snapshot.ts';
import { anchorsOf, certificatesResource } from '../anchors.ts';
import { inParallel } from '../in-parallel.ts';
import type { Run } from '../run.ts';
import { podOf, refusalOf } from '../pods.ts';
import { startRecorder } from '../recorder.ts';
import { certificatesRule, coreRule } from '../permissions.ts';
import { SignerError } from '../../errors.ts';
import { mutualTls } from './mutual-tls.ts';
import { pcrOperations } from './api-calls.ts';
import { pcrPlans } from './plans.ts';
import { findRequester } from './requester.ts';
import { makeRequest, type PlannedRequest } from './requests.ts';
import type { PcrRun } from './run.ts';
import { mountVolume, sourcesOf, type MountedVolume } from './volumes.ts';

const HOUR = 3600;
const MOST = 91 * 24 * HOUR;

/** Observes a signer of PodCertificateRequests. @throws KubeError or SignerError when no call succeeds */
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
    // Awaited later; should the run be interrupted before, nobody asks for them, and that is no crash.
    for (const each of [operations, plans]) each.catch(() => undefined);
    const [pod, podDefault, podAnnotated] = await mountAll(pcr);
    const requester = await findRequester(pcr, pod.request ?? podDefault.request);
    const made = 'skipped' in requester ? requester : await makeAll(pcr, requester, await plans);
    await run.delay(Math.max(0, begun + run.quietMs - run.clock()), run.signal);
    const own = scenariosOf(made);
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
): Promise<readonly [MountedVolume, MountedVolume, MountedVolume]> {
  const { annotations } = pcr.run.profile;
  const none: MountedVolume = {
    observed: () => ({ skipped: 'the profile names no annotations' }),
    starts: { skipped: 'the profile names no annotations' },
  };
  return Promise.all([
    mountVolume(pcr, { name: 'pod', maxExpirationSeconds: HOUR, trust: true }),
    mountVolume(pcr, { name: 'default' }),
    annotations === undefined
      ? none
      : mountVolume(pcr, { name: 'annotated', userAnnotations: annotations }),
  ]);
}

async function makeAll(
  pcr: PcrRun,
  requester: Parameters<typeof makeRequest>[1],
  plans: readonly Parameters<typeof makeRequest>[2][],
): Promise<readonly PlannedRequest[]> {
  pcr.run.progress(`writing ${plans.length} requests for pod ${requester.pod.podName}`);
  const single = plans.filter(({ scenario }) => scenario !== 'burst');
  const burst = plans.filter(({ scenario }) => scenario === 'burst');
  const made = await inParallel(single, (plan) => makeRequest(pcr, requester, plan));
  const atOnce = await Promise.all(burst.map((plan) => makeRequest(pcr, requester, plan)));
  return [...made, ...atOnce];
}

function scenariosOf(
  made: readonly PlannedRequest[] | Skipped,
): Readonly<Record<PcrScenario, Observation>> {
  const observations = new Map(
    'skipped' in made ? [] : made.map(({ plan, observed }) => [plan.scenario, observed()]),
  );
  const reason = 'skipped' in made ? made.skipped : 'the runner has no such request';
  return Object.fromEntries(
    PCR_SCENARIOS.map((name) => [name, observations.get(name) ?? { skipped: reason }]),
  ) as Readonly<Record<PcrScenario, Observation>>;
}

function burstOf(made: readonly PlannedRequest[] | Skipped): readonly ObservedRequest[] | Skipped {
  if ('skipped' in made) return made;
  return made.filter(({ plan }) => plan.scenario === 'burst').map(({ observed }) => observed());
}

function keyOf(
  made: readonly PlannedRequest[] | Skipped,
  scenario: PcrScenario,
): PlannedRequest['plan']['key'] | undefined {
  if ('skipped' in made) return undefined;
  return made.find(({ plan }) => plan.scenario === scenario)?.plan.key;
}

function annotationsArrive({ profile }: Run, { request, starts }: MountedVolume): Operation {
  if (request === undefined) return { skipped: starts.skipped ?? 'there is no request' };
  const found = JSON.stringify(request.spec.unverifiedUserAnnotations ?? {});
  const wanted = JSON.stringify(profile.annotations);
  return found === wanted ? { seen: found } : { fault: `${found}, not ${wanted}` };
}

/** Volumes that ask for too much and too little; nothing is stored. */
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
    tooLong: await refused(MOST + 1, `must be <= ${MOST}`),
    tooShort: await refused(HOUR - 1, `must be >= ${HOUR}`),
  };
}
