// SPDX-License-Identifier: Apache-2.0
import {
  CERTIFICATE_REQUEST_RESOURCE,
  CERT_MANAGER_GROUP,
  withApproval,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { findCondition } from '#api/request/conditions.ts';
import { crVersion } from '#conformance/certificaterequest/version.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { resource } from '#kube/resource/resource.ts';
import type { UserInfo } from '../csr/client-authentication.ts';
import { until, type Run } from '../run.ts';
import type { Recorder } from '../recorder.ts';
import { createPlanned, requestName, treatAs, type PlannedRequest } from '../requests.ts';
import type { CrPlan } from './plans.ts';

/** CertificateRequests, cert-manager.io/v1. */
export const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** Returns verbs on a resource of cert-manager.io in the run's namespace. */
export function certManagerRule(
  run: Run,
  verbs: readonly string[],
  plural = 'certificaterequests',
): PermissionRule {
  return { apiGroups: [CERT_MANAGER_GROUP], resources: [plural], verbs, namespace: run.namespace };
}

/** The user who creates requests, and the recorder of their versions. */
export interface CrRequester {
  readonly run: Run;
  readonly recorder: Recorder<CertificateRequest>;
  readonly user: UserInfo;
}

const ENDED: ReadonlySet<string> = new Set(['issued', 'failed']);

/**
 * Creates the request, treats it as planned, and waits for its answer. @throws KubeError when a
 * call fails
 */
export async function makeRequest(
  requester: CrRequester,
  plan: CrPlan,
): Promise<PlannedRequest<CrPlan>> {
  const { run, recorder } = requester;
  const approving = certManagerRule(run, ['update'], 'certificaterequests/status');
  const rules = [certManagerRule(run, ['create', 'get', 'delete'])];
  if (plan.treatment === 'deny') rules.push(approving);
  return createPlanned(plan, {
    run,
    recorder,
    missing: await run.permissions.missing(...rules),
    create: () => create(requester, plan),
    treat: async (created) => {
      const runnerWrites = await treatAs(plan.treatment, created, {
        run,
        recorder,
        resource: CERTIFICATE_REQUESTS,
        permissions: [approving],
        isDecided,
        write: (now, type) => writeDecision(run, now, type),
        // 403 comes from cert-manager's webhook, which requires the verb approve on the issuer.
        retried: [403, 409, 422],
      });
      if (plan.treatment === 'approve' && isOwn(run, plan.issuerRef)) {
        const { uid } = created.metadata;
        const isEnded = (): boolean =>
          recorder.versionsOf(uid).some(({ object }) => ENDED.has(crVersion(object, 0).state));
        await until(run, isEnded, run.timeoutMs);
      }
      return runnerWrites;
    },
    version: crVersion,
  });
}

function isOwn(run: Run, { kind, group, name }: CrPlan['issuerRef']): boolean {
  return `${kind}.${group}/${name}` === run.signerName;
}

function create({ run, user }: CrRequester, plan: CrPlan): Promise<CertificateRequest> {
  const { requested, annotations, isCa, saysUsages, request, issuerRef } = plan;
  const name = requestName(run, plan.scenario);
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
      // cert-manager's webhook overwrites these with the same values. Without it, issuers read the
      // runner's.
      ...user,
    },
  });
}

function writeDecision(
  run: Run,
  request: CertificateRequest,
  type: 'Approved' | 'Denied',
): Promise<CertificateRequest> {
  const decision = { type, reason: 'Conformance', message: 'by countersign conformance' };
  return run.client.request<CertificateRequest>({
    method: 'PUT',
    path: CERTIFICATE_REQUESTS.object(request.metadata, 'status'),
    body: withApproval(request, decision, run.clock()),
  });
}

function isDecided({ status }: CertificateRequest): boolean {
  return ['Approved', 'Denied'].some(
    (type) => findCondition(status?.conditions, type) !== undefined,
  );
}
