// SPDX-License-Identifier: Apache-2.0
import { findCondition, hasTrueCondition } from '../../api/request/conditions.ts';
import { isFinished, withApproval, type CertificateSigningRequest } from '../../api/request/csr.ts';
import { csrVersion } from '../../conformance/csr/version.ts';
import type {
  RequestedLeaf,
  Skipped,
  ObservedRequest,
} from '../../conformance/observed-request.ts';
import { messageOf } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { resource } from '../../kube/resource/resource.ts';
import { until, type Run } from '../run.ts';
import type { Recorder } from '../recorder.ts';
import { certificatesRule, signerRule } from '../permissions.ts';
import type { CsrPlan } from './plans.ts';

export const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});

/** A request that was made; `observed` is read when the run ends. */
export interface PlannedRequest {
  readonly plan: CsrPlan;
  readonly observed: () => ObservedRequest | Skipped;
}

/** Somebody else may write at the same moment. */
const ATTEMPTS = 5;

/** Makes the request, treats it as planned, and waits for what comes of it. */
export async function makeRequest(
  run: Run,
  recorder: Recorder<CertificateSigningRequest>,
  plan: CsrPlan,
): Promise<PlannedRequest> {
  const missing = await lackingFor(run, plan);
  if (missing !== undefined) return { plan, observed: () => ({ skipped: missing }) };
  let created: CertificateSigningRequest;
  try {
    created = await create(run, plan);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const rejection = `${error.status}: ${messageOf(error)}`;
    return { plan, observed: () => observedRequest(run, plan.requested, { rejection }) };
  }
  const madeAt = run.clock();
  recorder.add(created);
  const runnerWrites = await treat(run, recorder, created, plan);
  if (plan.treatment === 'approve' && plan.signerName === run.signerName) {
    await until(
      run,
      () => recorder.versionsOf(created.metadata.uid).some(isAnswered),
      run.timeoutMs,
    );
  }
  return {
    plan,
    observed: () => {
      const versions = recorder.versionsOf(created.metadata.uid);
      const snapshots = versions.map(({ object, at }) =>
        csrVersion(object, Math.max(0, at - madeAt)),
      );
      return {
        ...observedRequest(run, plan.requested, {}),
        versions: snapshots,
        isComplete: recorder.isComplete,
        runnerWrites: runnerWrites,
      };
    },
  };
}

function isAnswered({ object }: { readonly object: CertificateSigningRequest }): boolean {
  return isFinished(object);
}

/** What the scenario cannot do without. */
async function lackingFor(run: Run, plan: CsrPlan): Promise<string | undefined> {
  const rights = [certificatesRule(['create', 'get'], 'certificatesigningrequests')];
  if (plan.treatment === 'delete')
    rights.push(certificatesRule(['delete'], 'certificatesigningrequests'));
  if (plan.treatment === 'deny') rights.push(...approving(plan.signerName));
  return run.permissions.missing(...rights);
}

function approving(signerName: string): ReturnType<typeof certificatesRule>[] {
  return [
    certificatesRule(['update'], 'certificatesigningrequests/approval'),
    signerRule('approve', signerName),
  ];
}

function create(run: Run, plan: CsrPlan): Promise<CertificateSigningRequest> {
  const { requested, labels, annotations } = plan;
  const { lifetimeSeconds } = requested;
  const unique = Buffer.from(run.random(3)).toString('hex');
  const name = `conformance-${run.id}-${plan.scenario.toLowerCase()}-${unique}`;
  return run.created.create<CertificateSigningRequest>(REQUESTS, {
    kind: 'CertificateSigningRequest',
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: {
      request: Buffer.from(plan.request).toString('base64'),
      signerName: plan.signerName,
      usages: requested.usages,
      ...(lifetimeSeconds === undefined ? {} : { expirationSeconds: lifetimeSeconds }),
    },
  });
}

/** @returns how many versions the runner itself made */
async function treat(
  run: Run,
  recorder: Recorder<CertificateSigningRequest>,
  csr: CertificateSigningRequest,
  { treatment, signerName }: CsrPlan,
): Promise<number> {
  if (treatment === 'leave') return 0;
  if (treatment === 'delete') {
    const path = REQUESTS.object(csr.metadata);
    await run.client.request({ method: 'DELETE', path });
    return 0;
  }
  const missing = await run.permissions.missing(...approving(signerName));
  if (missing !== undefined) return 0;
  return decide(run, recorder, csr, treatment === 'deny' ? 'Denied' : 'Approved');
}

/** Approves or denies, unless somebody else did already. */
async function decide(
  run: Run,
  recorder: Recorder<CertificateSigningRequest>,
  csr: CertificateSigningRequest,
  type: 'Approved' | 'Denied',
): Promise<number> {
  let now = csr;
  for (let attempt = 0; attempt < ATTEMPTS && !isDecided(now); attempt++) {
    try {
      const decision = { type, reason: 'Conformance', message: 'by countersign conformance' };
      const body = withApproval(now, decision, run.clock());
      const path = REQUESTS.object(now.metadata, 'approval');
      recorder.add(
        await run.client.request<CertificateSigningRequest>({ method: 'PUT', path, body }),
      );
      return 1;
    } catch (error) {
      if (!(error instanceof KubeError) || ![409, 422].includes(error.status)) throw error;
      now = await run.client.request({ method: 'GET', path: REQUESTS.object(now.metadata) });
    }
  }
  return 0;
}

function isDecided({ status }: CertificateSigningRequest): boolean {
  const conditions = status?.conditions;
  return (
    hasTrueCondition(conditions, 'Approved') || findCondition(conditions, 'Denied') !== undefined
  );
}

function observedRequest(
  run: Run,
  requested: RequestedLeaf,
  more: { readonly rejection?: string },
): ObservedRequest {
  const endedAt = run.clock() - run.client.clockOffset();
  return {
    requested: requested,
    versions: [],
    isComplete: true,
    runnerWrites: 0,
    endedAt,
    waitedMs: run.timeoutMs,
    ...more,
  };
}
