// SPDX-License-Identifier: Apache-2.0
import {
  CR_SCENARIOS,
  readIssuerRef,
  type CrScenario,
  type CrSnapshot,
} from '../../conformance/certificaterequest/snapshot.ts';
import type { CertificateRequest } from '../../api/request/certificate-request.ts';
import {
  isSkipped,
  lastOf,
  type Observation,
  type Skipped,
  type ObservedRequest,
} from '../../conformance/observed-request.ts';
import type { Anchors } from '../../conformance/snapshot.ts';
import { SignerError, attempt } from '../../errors.ts';
import { servedVersions } from '../../kube/client/discovery.ts';
import { readAnchors } from '../../pki/x509/trust-bundle.ts';
import { whoami } from '../csr/client-authentication.ts';
import { inParallel } from '../in-parallel.ts';
import type { Run } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { startRecorder } from '../recorder.ts';
import { crPlans } from './plans.ts';
import { CERTIFICATE_REQUESTS, makeRequest, mayRequest, type PlannedRequest } from './requests.ts';

/** Observes an issuer of cert-manager's CertificateRequests. @throws KubeError or SignerError */
export async function observeCertificateRequests(run: Run): Promise<CrSnapshot> {
  const issuerRef = readIssuerRef(run.signerName);
  if (issuerRef === undefined) {
    throw new SignerError({
      code: 'USAGE',
      disposition: 'fail',
      message: `--signer ${run.signerName}: of certificaterequest write <Kind>.<group>/<name>, such as ClusterSigner.countersign.dev/workload`,
    });
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
    (await run.permissions.missing(mayRequest(run, ['list', 'watch']))) === undefined;
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
    const single = plans.filter(({ scenario }) => scenario !== 'burst');
    const burst = plans.filter(({ scenario }) => scenario === 'burst');
    const requester = { run, recorder, user };
    const made = await inParallel(single, (plan) => makeRequest(requester, plan));
    const atOnce = await Promise.all(burst.map((plan) => makeRequest(requester, plan)));
    await run.delay(Math.max(0, begun + run.quietMs - run.clock()), run.signal);
    return snapshotOf(run, [...made, ...atOnce]);
  } finally {
    await recorder.stop();
  }
}

function snapshotOf(run: Run, made: readonly PlannedRequest[] | Skipped): CrSnapshot {
  const reason = 'skipped' in made ? made.skipped : 'the runner has no such request';
  const observations =
    'skipped' in made ? [] : made.map(({ plan, observed }) => [plan.scenario, observed()] as const);
  const byScene = new Map<string, Observation>(observations);
  const scenarios = Object.fromEntries(
    CR_SCENARIOS.map((name) => [name, byScene.get(name) ?? { skipped: reason }]),
  ) as Readonly<Record<CrScenario, Observation>>;
  const burst = observations
    .filter(([scenario]) => scenario === 'burst')
    .map(([, observed]) => observed);
  const { signerName, profile } = run;
  return {
    signerName,
    profile,
    scenarios: scenarios,
    burst: burst.find((each): each is Skipped => isSkipped(each)) ?? burstOf(burst, reason),
    anchors: anchorsOf(run),
    statusCa: ownAnchor(scenarios.plain),
    operations: {},
  };
}

function burstOf(
  burst: readonly Observation[],
  reason: string,
): readonly ObservedRequest[] | Skipped {
  const observations = burst.filter((each): each is ObservedRequest => !isSkipped(each));
  return observations.length === 0 ? { skipped: reason } : observations;
}

function anchorsOf({ anchors }: Run): Anchors | Skipped {
  if (anchors === undefined) return { skipped: '--anchors names no file' };
  return readOf(anchors.pem, anchors.from);
}

/** What the issuer itself says is its CA. */
function ownAnchor(plain: Observation): Anchors | Skipped {
  const ca = isSkipped(plain) ? '' : (lastOf(plain)?.ca ?? '');
  return ca === '' ? { skipped: 'status.ca is not set: best effort' } : readOf(ca, 'status.ca');
}

function readOf(pem: string, from: string): Anchors | Skipped {
  const certificates = attempt(() => readAnchors(pem));
  if (certificates instanceof SignerError) return { skipped: `${from}: ${certificates.message}` };
  return { certificates, from };
}
