// SPDX-License-Identifier: Apache-2.0
import { findCondition, hasTrueCondition } from '#api/request/conditions.ts';
import {
  CSR_RESOURCE,
  isFinished,
  withApproval,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import { csrVersion } from '#conformance/csr/version.ts';
import { resource } from '#kube/resource/resource.ts';
import { until, type Run } from '../run.ts';
import type { Recorder } from '../recorder.ts';
import { certificatesRule, signerRule } from '../permissions.ts';
import { createPlanned, requestName, treatAs, type PlannedRequest } from '../requests.ts';
import type { CsrPlan } from './plans.ts';

/** CertificateSigningRequests, certificates.k8s.io/v1. */
export const REQUESTS = resource(CSR_RESOURCE);

/**
 * Creates the request, treats it as planned, and waits for its answer. @throws KubeError when a
 * call fails
 */
export async function makeRequest(
  run: Run,
  recorder: Recorder<CertificateSigningRequest>,
  plan: CsrPlan,
): Promise<PlannedRequest<CsrPlan>> {
  return createPlanned(plan, {
    run,
    recorder,
    missing: await missingFor(run, plan),
    create: () => create(run, plan),
    treat: async (created) => {
      const runnerWrites = await treatAs(plan.treatment, created, {
        run,
        recorder,
        resource: REQUESTS,
        permissions: approving(plan.signerName),
        isDecided,
        retried: [409, 422],
        write: (now, type) => writeDecision(run, now, type),
      });
      if (plan.treatment === 'approve' && plan.signerName === run.signerName) {
        const { uid } = created.metadata;
        await until(run, () => recorder.versionsOf(uid).some(isAnswered), run.timeoutMs);
      }
      return runnerWrites;
    },
    version: csrVersion,
  });
}

function isAnswered({ object }: { readonly object: CertificateSigningRequest }): boolean {
  return isFinished(object);
}

/** Returns the permissions that the scenario needs and the user lacks. */
async function missingFor(run: Run, plan: CsrPlan): Promise<string | undefined> {
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
  const name = requestName(run, plan.scenario);
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

function writeDecision(
  run: Run,
  csr: CertificateSigningRequest,
  type: 'Approved' | 'Denied',
): Promise<CertificateSigningRequest> {
  const decision = { type, reason: 'Conformance', message: 'by countersign conformance' };
  return run.client.request<CertificateSigningRequest>({
    method: 'PUT',
    path: REQUESTS.object(csr.metadata, 'approval'),
    body: withApproval(csr, decision, run.clock()),
  });
}

function isDecided({ status }: CertificateSigningRequest): boolean {
  const conditions = status?.conditions;
  return (
    hasTrueCondition(conditions, 'Approved') || findCondition(conditions, 'Denied') !== undefined
  );
}
