// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import {
  PCR_SCENES,
  type PcrOperation,
  type PcrScene,
  type PcrWorld,
} from '../../conformance/pcr/snapshot.ts';
import type { Scene, Skipped, Trial } from '../../conformance/observed-request.ts';
import type { Operation } from '../../conformance/snapshot.ts';
import { anchorsOf, certificatesResource } from '../anchors.ts';
import { inParallel } from '../in-parallel.ts';
import type { Kit } from '../run.ts';
import { podOf, refusalOf } from '../pods.ts';
import { record } from '../recorder.ts';
import { may, mayCore } from '../permissions.ts';
import { SignerError } from '../../errors.ts';
import { mutualTls } from './mutual-tls.ts';
import { pcrOperations } from './api-calls.ts';
import { pcrPlans } from './plans.ts';
import { findRequester } from './requester.ts';
import { makeRequest, type Made } from './requests.ts';
import type { PcrKit } from './run.ts';
import { mountVolume, sourcesOf, type Mounted } from './volumes.ts';

const HOUR = 3600;
const MOST = 91 * 24 * HOUR;

/** Observes a signer of PodCertificateRequests. @throws KubeError or SignerError when nothing can be asked */
export async function observePcr(kit: Kit): Promise<PcrWorld> {
  const requests = await certificatesResource(kit, 'podcertificaterequests');
  if (requests === undefined) {
    throw new SignerError({
      code: 'KUBE_NOT_FOUND',
      disposition: 'wait',
      message: 'this API server serves no podcertificaterequests.certificates.k8s.io',
    });
  }
  const { namespace } = kit;
  const mayWatch =
    (await kit.rights.lacking(may(['list', 'watch'], requests.plural, namespace))) === undefined;
  const recorder = await record<PodCertificateRequest>(kit, {
    resource: requests,
    namespace,
    mayWatch,
  });
  const pcr: PcrKit = { kit, requests, recorder };
  const begun = kit.clock();
  try {
    kit.say('making pods with podCertificate volumes');
    const operations = pcrOperations(pcr);
    const plans = pcrPlans(kit);
    // Awaited later; should the run be interrupted before, nobody asks for them, and that is no crash.
    for (const each of [operations, plans]) each.catch(() => undefined);
    const [pod, podDefault, podAnnotated] = await mountAll(pcr);
    const requester = await findRequester(pcr, pod.request ?? podDefault.request);
    const made = 'skipped' in requester ? requester : await makeAll(pcr, requester, await plans);
    await kit.delay(Math.max(0, begun + kit.quietMs - kit.clock()), kit.signal);
    const own = scenesOf(made);
    const anchors = await anchorsOf(kit);
    return {
      signerName: kit.signerName,
      profile: kit.profile,
      anchors,
      scenes: {
        ...own,
        pod: pod.scene(),
        podDefault: podDefault.scene(),
        podAnnotated: podAnnotated.scene(),
      },
      burst: burstOf(made),
      operations: {
        ...(await operations),
        podStarts: pod.starts,
        annotationsArrive: annotationsArrive(kit, podAnnotated),
        mutualTls: await mutualTls(kit, anchors, [
          { scene: own.plain, key: keyOf(made, 'plain') },
          { scene: own.again, key: keyOf(made, 'again') },
        ]),
        ...(await bounds(pcr)),
      },
    };
  } finally {
    await recorder.stop();
  }
}

async function mountAll(pcr: PcrKit): Promise<readonly [Mounted, Mounted, Mounted]> {
  const { annotations } = pcr.kit.profile;
  const none: Mounted = {
    scene: () => ({ skipped: 'the profile names no annotations' }),
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
  pcr: PcrKit,
  requester: Parameters<typeof makeRequest>[1],
  plans: readonly Parameters<typeof makeRequest>[2][],
): Promise<readonly Made[]> {
  pcr.kit.say(`writing ${plans.length} requests for pod ${requester.facts.podName}`);
  const single = plans.filter(({ scene }) => scene !== 'burst');
  const burst = plans.filter(({ scene }) => scene === 'burst');
  const made = await inParallel(single, (plan) => makeRequest(pcr, requester, plan));
  const atOnce = await Promise.all(burst.map((plan) => makeRequest(pcr, requester, plan)));
  return [...made, ...atOnce];
}

function scenesOf(made: readonly Made[] | Skipped): Readonly<Record<PcrScene, Scene>> {
  const trials = new Map(
    'skipped' in made ? [] : made.map(({ plan, trial }) => [plan.scene, trial()]),
  );
  const reason = 'skipped' in made ? made.skipped : 'the kit has no such request';
  return Object.fromEntries(
    PCR_SCENES.map((name) => [name, trials.get(name) ?? { skipped: reason }]),
  ) as Readonly<Record<PcrScene, Scene>>;
}

function burstOf(made: readonly Made[] | Skipped): readonly Trial[] | Skipped {
  if ('skipped' in made) return made;
  return made.filter(({ plan }) => plan.scene === 'burst').map(({ trial }) => trial());
}

function keyOf(made: readonly Made[] | Skipped, scene: PcrScene): Made['plan']['key'] | undefined {
  if ('skipped' in made) return undefined;
  return made.find(({ plan }) => plan.scene === scene)?.plan.key;
}

function annotationsArrive({ profile }: Kit, { request, starts }: Mounted): Operation {
  if (request === undefined) return { skipped: starts.skipped ?? 'there is no request' };
  const found = JSON.stringify(request.spec.unverifiedUserAnnotations ?? {});
  const wanted = JSON.stringify(profile.annotations);
  return found === wanted ? { seen: found } : { fault: `${found}, not ${wanted}` };
}

/** Volumes that ask for too much and too little; nothing is stored. */
async function bounds(
  pcr: PcrKit,
): Promise<Readonly<Record<Extract<PcrOperation, 'tooLong' | 'tooShort'>, Operation>>> {
  const { kit } = pcr;
  const lacking = await kit.rights.lacking(mayCore(['create'], 'pods', kit.namespace));
  if (lacking !== undefined)
    return { tooLong: { skipped: lacking }, tooShort: { skipped: lacking } };
  const refused = async (maxExpirationSeconds: number, words: string): Promise<Operation> => {
    const sources = sourcesOf(pcr, { name: 'bounds', maxExpirationSeconds });
    const said = await refusalOf(kit, podOf(kit, 'bounds', [sources]));
    if (said === undefined) return { fault: `${maxExpirationSeconds} s were accepted` };
    return said.includes(words)
      ? { seen: words }
      : { fault: `refused for another reason: ${said}` };
  };
  return {
    tooLong: await refused(MOST + 1, `must be <= ${MOST}`),
    tooShort: await refused(HOUR - 1, `must be >= ${HOUR}`),
  };
}
