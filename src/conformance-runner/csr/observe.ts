// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../api/request/csr.ts';
import {
  CSR_SCENARIOS,
  type CsrScenario,
  type CsrSnapshot,
} from '../../conformance/csr/snapshot.ts';
import type { Observation, Skipped, ObservedRequest } from '../../conformance/observed-request.ts';
import { anchorsOf } from '../anchors.ts';
import { inParallel } from '../in-parallel.ts';
import type { Run } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { startRecorder } from '../recorder.ts';
import { certificatesRule } from '../permissions.ts';
import { authenticateWith, whoami } from './client-authentication.ts';
import { csrOperations } from './operations.ts';
import { csrBurst, csrPlans } from './plans.ts';
import { REQUESTS, makeRequest, type PlannedRequest } from './requests.ts';

/** Observes a signer of CertificateSigningRequests. @throws KubeError when no call succeeds */
export async function observeCsr(run: Run): Promise<CsrSnapshot> {
  const { username } = await whoami(run.client);
  const [plans, burst] = await Promise.all([csrPlans(run, username), csrBurst(run, username)]);
  const mayWatch =
    (await run.permissions.missing(certificatesRule(['list', 'watch'], REQUESTS.plural))) ===
    undefined;
  const recorder = await startRecorder<CertificateSigningRequest>(run, {
    resource: REQUESTS,
    labelSelector: `${RUN_LABEL}=${run.id}`,
    mayWatch,
  });
  try {
    run.progress(`making ${plans.length + burst.length} requests as ${username}`);
    const begun = run.clock();
    const operations = csrOperations(run);
    // Awaited at the end; should the run be interrupted before, nobody asks for it, and that is no crash.
    operations.catch(() => undefined);
    const made = await inParallel(plans, (plan) => makeRequest(run, recorder, plan));
    const atOnce = await Promise.all(burst.map((plan) => makeRequest(run, recorder, plan)));
    await run.delay(Math.max(0, begun + run.quietMs - run.clock()), run.signal);
    const scenarios = scenariosOf(made);
    const key = made.find(({ plan }) => plan.scenario === 'plain')?.plan.key;
    return {
      signerName: run.signerName,
      profile: run.profile,
      scenarios: scenarios,
      burst: burstOf(atOnce),
      anchors: await anchorsOf(run),
      operations: await operations,
      clientAuthentication: await authenticateWith(run, scenarios.plain, key),
    };
  } finally {
    await recorder.stop();
  }
}

function scenariosOf(made: readonly PlannedRequest[]): Readonly<Record<CsrScenario, Observation>> {
  const observations = new Map(made.map(({ plan, observed }) => [plan.scenario, observed()]));
  return Object.fromEntries(
    CSR_SCENARIOS.map((name) => [
      name,
      observations.get(name) ?? { skipped: 'the runner has no such request' },
    ]),
  ) as Readonly<Record<CsrScenario, Observation>>;
}

function burstOf(made: readonly PlannedRequest[]): readonly ObservedRequest[] | Skipped {
  const observations = made.map(({ observed }) => observed());
  const skipped = observations.find((each): each is Skipped => 'skipped' in each);
  return skipped ?? observations.filter((each): each is ObservedRequest => !('skipped' in each));
}
