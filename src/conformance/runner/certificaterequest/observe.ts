// SPDX-License-Identifier: Apache-2.0
import {
  CR_SCENARIOS,
  readIssuerRef,
  type CrSnapshot,
} from '#conformance/certificaterequest/snapshot.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import {
  isSkipped,
  lastOf,
  type ScenarioResult,
  type SkippedScenario,
} from '#conformance/observed-request.ts';
import type { Anchors } from '#conformance/snapshot.ts';
import { usageError } from '#base/errors.ts';
import { servedVersions } from '#kube/client/discovery.ts';
import { readAnchorsFrom } from '../anchors.ts';
import { whoami } from '../csr/client-authentication.ts';
import { burstOf, createAll, scenariosOf, type PlannedRequest } from '../requests.ts';
import type { Run } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { startRecorder } from '../recorder.ts';
import { crPlans, type CrPlan } from './plans.ts';
import { CERTIFICATE_REQUESTS, makeRequest, certManagerRule } from './requests.ts';

/** Observes an issuer of cert-manager's CertificateRequests. @throws KubeError or SignerError */
export async function observeCertificateRequests(run: Run): Promise<CrSnapshot> {
  const issuerRef = readIssuerRef(run.signerName);
  if (issuerRef === undefined) {
    throw usageError(
      `--signer ${run.signerName}: of certificaterequest write <Kind>.<group>/<name>, such as ClusterSigner.countersign.dev/workload`,
    );
  }
  const served = await servedVersions(run.client, CERTIFICATE_REQUESTS, [
    CERTIFICATE_REQUESTS.version,
  ]);
  if (served.length === 0) {
    return snapshotOf(run, {
      skipped: 'the API server has no certificaterequests.cert-manager.io',
    });
  }
  const { namespace } = run;
  const mayWatch =
    (await run.permissions.missing(certManagerRule(run, ['list', 'watch']))) === undefined;
  const labelSelector = `${RUN_LABEL}=${run.id}`;
  const recorder = await startRecorder<CertificateRequest>(run, {
    resource: CERTIFICATE_REQUESTS,
    namespace,
    labelSelector,
    mayWatch,
  });
  const begun = run.clock();
  try {
    const user = await whoami(run.client);
    const plans = await crPlans(run, issuerRef, user.username);
    run.progress(`making ${plans.length} requests`);
    const requester = { run, recorder, user };
    const made = await createAll(plans, (plan) => makeRequest(requester, plan));
    await run.delay(Math.max(0, begun + run.quietMs - run.clock()), run.signal);
    return snapshotOf(run, made);
  } finally {
    await recorder.stop();
  }
}

function snapshotOf(
  run: Run,
  made: readonly PlannedRequest<CrPlan>[] | SkippedScenario,
): CrSnapshot {
  const { signerName, profile } = run;
  const scenarios = scenariosOf(CR_SCENARIOS, made);
  return {
    signerName,
    profile,
    scenarios,
    burst: burstOf(made),
    anchors: anchorsOf(run),
    statusCa: statusCaOf(scenarios.plain),
    operations: {},
  };
}

function anchorsOf({ anchors }: Run): Anchors | SkippedScenario {
  if (anchors === undefined) return { skipped: '--anchors names no file' };
  return readAnchorsFrom(anchors.pem, anchors.from);
}

/** Returns the CA that the issuer itself publishes. */
function statusCaOf(plain: ScenarioResult): Anchors | SkippedScenario {
  const ca = isSkipped(plain) ? '' : (lastOf(plain)?.ca ?? '');
  return ca === ''
    ? { skipped: 'status.ca is not set: best effort' }
    : readAnchorsFrom(ca, 'status.ca');
}
