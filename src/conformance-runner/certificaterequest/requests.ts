// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
  type CertificateRequest,
} from '../../api/request/certificate-request.ts';
import { findCondition } from '../../api/request/conditions.ts';
import { formatTime } from '../../api/object/time.ts';
import { crVersion } from '../../conformance/certificaterequest/version.ts';
import type { Skipped, ObservedRequest } from '../../conformance/observed-request.ts';
import { messageOf } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { resource } from '../../kube/resource/resource.ts';
import type { UserInfo } from '../csr/client-authentication.ts';
import { until, type Run } from '../run.ts';
import type { Recorder } from '../recorder.ts';
import type { CrPlan } from './plans.ts';

export const CERTIFICATE_REQUESTS = resource({
  group: CERT_MANAGER_GROUP,
  version: CERT_MANAGER_VERSION,
  plural: 'certificaterequests',
});

/** Rights on a resource of cert-manager.io in the run's namespace. */
export function mayRequest(
  run: Run,
  verbs: readonly string[],
  what = 'certificaterequests',
): PermissionRule {
  return { apiGroups: [CERT_MANAGER_GROUP], resources: [what], verbs, namespace: run.namespace };
}

export interface PlannedRequest {
  readonly plan: CrPlan;
  readonly observed: () => ObservedRequest | Skipped;
}

/** Who asks, and who writes down what comes of it. */
export interface Requester {
  readonly run: Run;
  readonly recorder: Recorder<CertificateRequest>;
  readonly user: UserInfo;
}

/** Makes the request, treats it as planned, and waits for what comes of it. */
export async function makeRequest(requester: Requester, plan: CrPlan): Promise<PlannedRequest> {
  const { run, recorder } = requester;
  const { requested, issuerRef } = plan;
  const facts = (): Omit<ObservedRequest, 'versions'> => {
    const endedAt = run.clock() - run.client.clockOffset();
    return {
      requested: requested,
      isComplete: recorder.isComplete,
      runnerWrites: 0,
      endedAt,
      waitedMs: run.timeoutMs,
    };
  };
  const rights = [mayRequest(run, ['create', 'get', 'delete'])];
  if (plan.treatment === 'deny')
    rights.push(mayRequest(run, ['update'], 'certificaterequests/status'));
  const missing = await run.permissions.missing(...rights);
  if (missing !== undefined) return { plan, observed: () => ({ skipped: missing }) };
  let created: CertificateRequest;
  try {
    created = await create(requester, plan);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const rejection = messageOf(error);
    return { plan, observed: () => ({ ...facts(), versions: [], rejection: rejection }) };
  }
  const at = run.clock();
  recorder.add(created);
  const runnerWrites = await treat(run, recorder, created, plan);
  const versions = (): readonly ObservedRequest['versions'][number][] =>
    recorder
      .versionsOf(created.metadata.uid)
      .map((seen) => crVersion(seen.object, Math.max(0, seen.at - at)));
  const isEnded = (): boolean =>
    versions().some(({ state }) => state === 'issued' || state === 'failed');
  if (plan.treatment === 'approve' && isOwn(run, issuerRef))
    await until(run, isEnded, run.timeoutMs);
  return {
    plan,
    observed: () => ({ ...facts(), versions: versions(), runnerWrites: runnerWrites }),
  };
}

function isOwn(run: Run, { kind, group, name }: CrPlan['issuerRef']): boolean {
  return `${kind}.${group}/${name}` === run.signerName;
}

function create({ run, user }: Requester, plan: CrPlan): Promise<CertificateRequest> {
  const { requested, annotations, isCa, saysUsages, request, issuerRef } = plan;
  const unique = Buffer.from(run.random(3)).toString('hex');
  const name = `conformance-${run.id}-${plan.scenario.toLowerCase()}-${unique}`;
  return run.created.create<CertificateRequest>(CERTIFICATE_REQUESTS, {
    kind: 'CertificateRequest',
    metadata: { name, namespace: run.namespace, ...(annotations && { annotations }) },
    spec: {
      request: Buffer.from(request).toString('base64'),
      issuerRef,
      isCA: isCa,
      ...(requested.lifetimeSeconds === undefined
        ? {}
        : { duration: `${requested.lifetimeSeconds}s` }),
      ...(saysUsages ? { usages: requested.usages } : {}),
      // cert-manager's webhook writes the same; issuers that decide by it, as ours, insist on the truth.
      ...user,
    },
  });
}

const ATTEMPTS = 5;

/** Approves or denies, unless cert-manager's approver was quicker. @returns the run's own writes */
async function treat(
  run: Run,
  recorder: Recorder<CertificateRequest>,
  created: CertificateRequest,
  { treatment }: CrPlan,
): Promise<number> {
  if (treatment === 'leave') return 0;
  const missing = await run.permissions.missing(
    mayRequest(run, ['update'], 'certificaterequests/status'),
  );
  if (missing !== undefined) return 0;
  const type = treatment === 'deny' ? 'Denied' : 'Approved';
  let now = created;
  for (let attempt = 0; attempt < ATTEMPTS && !isDecided(now); attempt++) {
    try {
      recorder.add(await writeDecision(run, now, type));
      return 1;
    } catch (error) {
      // 403 is cert-manager's webhook: it asks for the verb approve on the issuer.
      if (!(error instanceof KubeError) || ![403, 409, 422].includes(error.status)) throw error;
      now = await run.client.request({
        method: 'GET',
        path: CERTIFICATE_REQUESTS.object(now.metadata),
      });
    }
  }
  return 0;
}

function writeDecision(
  run: Run,
  request: CertificateRequest,
  type: 'Approved' | 'Denied',
): Promise<CertificateRequest> {
  const condition = {
    type,
    status: 'True' as const,
    reason: 'Conformance',
    message: 'by countersign conformance',
    lastTransitionTime: formatTime(run.clock()),
  };
  const conditions = [...(request.status?.conditions ?? []), condition];
  const body = { ...request, status: { ...request.status, conditions } };
  const path = CERTIFICATE_REQUESTS.object(request.metadata, 'status');
  return run.client.request<CertificateRequest>({ method: 'PUT', path, body });
}

function isDecided({ status }: CertificateRequest): boolean {
  return ['Approved', 'Denied'].some(
    (type) => findCondition(status?.conditions, type) !== undefined,
  );
}
