// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { CSR_SCENARIOS, type CsrSnapshot } from '#conformance/csr/snapshot.ts';
import { anchorsOf } from '../anchors.ts';
import type { Run } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { startRecorder } from '../recorder.ts';
import { certificatesRule } from '../permissions.ts';
import { authenticateWith, whoami } from './client-authentication.ts';
import { csrOperations } from './operations.ts';
import { csrBurst, csrPlans } from './plans.ts';
import { burstOf, createAll, scenariosOf } from '../requests.ts';
import { REQUESTS, makeRequest } from './requests.ts';

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
    // Awaited at the end. An interrupted run never awaits it, and its rejection must not end the
    // process.
    operations.catch(() => undefined);
    const made = await createAll([...plans, ...burst], (plan) => makeRequest(run, recorder, plan));
    await run.delay(Math.max(0, begun + run.quietMs - run.clock()), run.signal);
    const scenarios = scenariosOf(CSR_SCENARIOS, made);
    const key = made.find(({ plan }) => plan.scenario === 'plain')?.plan.key;
    return {
      signerName: run.signerName,
      profile: run.profile,
      scenarios,
      burst: burstOf(made),
      anchors: await anchorsOf(run),
      operations: await operations,
      clientAuthentication: await authenticateWith(run, scenarios.plain, key),
    };
  } finally {
    await recorder.stop();
  }
}
