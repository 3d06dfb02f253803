// SPDX-License-Identifier: Apache-2.0
import { findCondition, hasTrueCondition } from '../../api/request/conditions.ts';
import { isFinished, withApproval, type CertificateSigningRequest } from '../../api/request/csr.ts';
import { csrSnapshot } from '../../conformance/csr/version.ts';
import type { Asked, Skipped, Trial } from '../../conformance/observed-request.ts';
import { messageOf } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { resource } from '../../kube/resource/resource.ts';
import { until, type Kit } from '../run.ts';
import type { Recorder } from '../recorder.ts';
import { may, maySigner } from '../permissions.ts';
import type { CsrPlan } from './plans.ts';

export const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});

/** A request that was made; its trial is written when the kit has seen enough. */
export interface Made {
  readonly plan: CsrPlan;
  readonly trial: () => Trial | Skipped;
}

/** Somebody else may write at the same moment. */
const ATTEMPTS = 5;

/** Makes the request, treats it as planned, and waits for what comes of it. */
export async function makeRequest(
  kit: Kit,
  recorder: Recorder<CertificateSigningRequest>,
  plan: CsrPlan,
): Promise<Made> {
  const lacking = await lackingFor(kit, plan);
  if (lacking !== undefined) return { plan, trial: () => ({ skipped: lacking }) };
  let created: CertificateSigningRequest;
  try {
    created = await create(kit, plan);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const refusal = `${error.status}: ${messageOf(error)}`;
    return { plan, trial: () => trialOf(kit, plan.asked, { refusal }) };
  }
  const madeAt = kit.clock();
  recorder.note(created);
  const ownWrites = await treat(kit, recorder, created, plan);
  if (plan.treatment === 'approve' && plan.signerName === kit.signerName) {
    await until(
      kit,
      () => recorder.versionsOf(created.metadata.uid).some(isAnswered),
      kit.timeoutMs,
    );
  }
  return {
    plan,
    trial: () => {
      const versions = recorder.versionsOf(created.metadata.uid);
      const snapshots = versions.map(({ object, at }) =>
        csrSnapshot(object, Math.max(0, at - madeAt)),
      );
      return {
        ...trialOf(kit, plan.asked, {}),
        versions: snapshots,
        watched: recorder.isWhole,
        ownWrites,
      };
    },
  };
}

function isAnswered({ object }: { readonly object: CertificateSigningRequest }): boolean {
  return isFinished(object);
}

/** What the scene cannot do without. */
async function lackingFor(kit: Kit, plan: CsrPlan): Promise<string | undefined> {
  const rights = [may(['create', 'get'], 'certificatesigningrequests')];
  if (plan.treatment === 'delete') rights.push(may(['delete'], 'certificatesigningrequests'));
  if (plan.treatment === 'deny') rights.push(...approving(plan.signerName));
  return kit.rights.lacking(...rights);
}

function approving(signerName: string): ReturnType<typeof may>[] {
  return [may(['update'], 'certificatesigningrequests/approval'), maySigner('approve', signerName)];
}

function create(kit: Kit, plan: CsrPlan): Promise<CertificateSigningRequest> {
  const { asked, labels, annotations } = plan;
  const { lifetimeSeconds } = asked;
  const unique = Buffer.from(kit.random(3)).toString('hex');
  const name = `conformance-${kit.run}-${plan.scene.toLowerCase()}-${unique}`;
  return kit.own.create<CertificateSigningRequest>(REQUESTS, {
    kind: 'CertificateSigningRequest',
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: {
      request: Buffer.from(plan.request).toString('base64'),
      signerName: plan.signerName,
      usages: asked.usages,
      ...(lifetimeSeconds === undefined ? {} : { expirationSeconds: lifetimeSeconds }),
    },
  });
}

/** @returns how many versions the kit itself made */
async function treat(
  kit: Kit,
  recorder: Recorder<CertificateSigningRequest>,
  csr: CertificateSigningRequest,
  { treatment, signerName }: CsrPlan,
): Promise<number> {
  if (treatment === 'leave') return 0;
  if (treatment === 'delete') {
    const path = REQUESTS.object(csr.metadata);
    await kit.client.request({ method: 'DELETE', path });
    return 0;
  }
  const lacking = await kit.rights.lacking(...approving(signerName));
  if (lacking !== undefined) return 0;
  return decide(kit, recorder, csr, treatment === 'deny' ? 'Denied' : 'Approved');
}

/** Approves or denies, unless somebody else did already. */
async function decide(
  kit: Kit,
  recorder: Recorder<CertificateSigningRequest>,
  csr: CertificateSigningRequest,
  type: 'Approved' | 'Denied',
): Promise<number> {
  let now = csr;
  for (let attempt = 0; attempt < ATTEMPTS && !isDecided(now); attempt++) {
    try {
      const decision = { type, reason: 'Conformance', message: 'by countersign conformance' };
      const body = withApproval(now, decision, kit.clock());
      const path = REQUESTS.object(now.metadata, 'approval');
      recorder.note(
        await kit.client.request<CertificateSigningRequest>({ method: 'PUT', path, body }),
      );
      return 1;
    } catch (error) {
      if (!(error instanceof KubeError) || ![409, 422].includes(error.status)) throw error;
      now = await kit.client.request({ method: 'GET', path: REQUESTS.object(now.metadata) });
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

function trialOf(kit: Kit, asked: Asked, more: { readonly refusal?: string }): Trial {
  const endedAt = kit.clock() - kit.client.clockOffset();
  return {
    asked,
    versions: [],
    watched: true,
    ownWrites: 0,
    endedAt,
    waitedMs: kit.timeoutMs,
    ...more,
  };
}
