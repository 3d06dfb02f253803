// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../api/request/csr.ts';
import { CSR_SCENES, type CsrScene, type CsrWorld } from '../../conformance/csr/snapshot.ts';
import type { Scene, Skipped, Trial } from '../../conformance/observed-request.ts';
import { anchorsOf } from '../anchors.ts';
import { inParallel } from '../in-parallel.ts';
import type { Kit } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { record } from '../recorder.ts';
import { may } from '../permissions.ts';
import { loginWith, whoami } from './client-authentication.ts';
import { csrOperations } from './operations.ts';
import { csrBurst, csrPlans } from './plans.ts';
import { REQUESTS, makeRequest, type Made } from './requests.ts';

/** Observes a signer of CertificateSigningRequests. @throws KubeError when nothing can be asked */
export async function observeCsr(kit: Kit): Promise<CsrWorld> {
  const { username } = await whoami(kit.client);
  const [plans, burst] = await Promise.all([csrPlans(kit, username), csrBurst(kit, username)]);
  const mayWatch =
    (await kit.rights.lacking(may(['list', 'watch'], REQUESTS.plural))) === undefined;
  const recorder = await record<CertificateSigningRequest>(kit, {
    resource: REQUESTS,
    labelSelector: `${RUN_LABEL}=${kit.run}`,
    mayWatch,
  });
  try {
    kit.say(`making ${plans.length + burst.length} requests as ${username}`);
    const begun = kit.clock();
    const operations = csrOperations(kit);
    // Awaited at the end; should the run be interrupted before, nobody asks for it, and that is no crash.
    operations.catch(() => undefined);
    const made = await inParallel(plans, (plan) => makeRequest(kit, recorder, plan));
    const atOnce = await Promise.all(burst.map((plan) => makeRequest(kit, recorder, plan)));
    await kit.delay(Math.max(0, begun + kit.quietMs - kit.clock()), kit.signal);
    const scenes = scenesOf(made);
    const key = made.find(({ plan }) => plan.scene === 'plain')?.plan.key;
    return {
      signerName: kit.signerName,
      profile: kit.profile,
      scenes,
      burst: burstOf(atOnce),
      anchors: await anchorsOf(kit),
      operations: await operations,
      login: await loginWith(kit, scenes.plain, key),
    };
  } finally {
    await recorder.stop();
  }
}

function scenesOf(made: readonly Made[]): Readonly<Record<CsrScene, Scene>> {
  const trials = new Map(made.map(({ plan, trial }) => [plan.scene, trial()]));
  return Object.fromEntries(
    CSR_SCENES.map((name) => [
      name,
      trials.get(name) ?? { skipped: 'the kit has no such request' },
    ]),
  ) as Readonly<Record<CsrScene, Scene>>;
}

function burstOf(made: readonly Made[]): readonly Trial[] | Skipped {
  const trials = made.map(({ trial }) => trial());
  const skipped = trials.find((each): each is Skipped => 'skipped' in each);
  return skipped ?? trials.filter((each): each is Trial => !('skipped' in each));
}
