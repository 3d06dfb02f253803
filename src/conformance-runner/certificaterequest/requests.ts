// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
  type CertificateRequest,
} from '../../api/request/certificate-request.ts';
import { findCondition } from '../../api/request/conditions.ts';
import { formatTime } from '../../api/object/time.ts';
import { crSnapshot } from '../../conformance/certificaterequest/version.ts';
import type { Skipped, Trial } from '../../conformance/observed-request.ts';
import { messageOf } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { resource } from '../../kube/resource/resource.ts';
import type { UserInfo } from '../csr/client-authentication.ts';
import { until, type Kit } from '../run.ts';
import type { Recorder } from '../recorder.ts';
import type { CrPlan } from './plans.ts';

export const CERTIFICATE_REQUESTS = resource({
  group: CERT_MANAGER_GROUP,
  version: CERT_MANAGER_VERSION,
  plural: 'certificaterequests',
});

/** Rights on a resource of cert-manager.io in the kit's namespace. */
export function mayRequest(
  kit: Kit,
  verbs: readonly string[],
  what = 'certificaterequests',
): PermissionRule {
  return { apiGroups: [CERT_MANAGER_GROUP], resources: [what], verbs, namespace: kit.namespace };
}

export interface Made {
  readonly plan: CrPlan;
  readonly trial: () => Trial | Skipped;
}

/** Who asks, and who writes down what comes of it. */
export interface Requester {
  readonly kit: Kit;
  readonly recorder: Recorder<CertificateRequest>;
  readonly user: UserInfo;
}

/** Makes the request, treats it as planned, and waits for what comes of it. */
export async function makeRequest(requester: Requester, plan: CrPlan): Promise<Made> {
  const { kit, recorder } = requester;
  const { asked, issuerRef } = plan;
  const facts = (): Omit<Trial, 'versions'> => {
    const endedAt = kit.clock() - kit.client.clockOffset();
    return { asked, watched: recorder.isWhole, ownWrites: 0, endedAt, waitedMs: kit.timeoutMs };
  };
  const rights = [mayRequest(kit, ['create', 'get', 'delete'])];
  if (plan.treatment === 'deny')
    rights.push(mayRequest(kit, ['update'], 'certificaterequests/status'));
  const lacking = await kit.rights.lacking(...rights);
  if (lacking !== undefined) return { plan, trial: () => ({ skipped: lacking }) };
  let created: CertificateRequest;
  try {
    created = await create(requester, plan);
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const refusal = messageOf(error);
    return { plan, trial: () => ({ ...facts(), versions: [], refusal }) };
  }
  const at = kit.clock();
  recorder.note(created);
  const ownWrites = await treat(kit, recorder, created, plan);
  const versions = (): readonly Trial['versions'][number][] =>
    recorder
      .versionsOf(created.metadata.uid)
      .map((seen) => crSnapshot(seen.object, Math.max(0, seen.at - at)));
  const isEnded = (): boolean =>
    versions().some(({ state }) => state === 'issued' || state === 'failed');
  if (plan.treatment === 'approve' && isOwn(kit, issuerRef))
    await until(kit, isEnded, kit.timeoutMs);
  return { plan, trial: () => ({ ...facts(), versions: versions(), ownWrites }) };
}

function isOwn(kit: Kit, { kind, group, name }: CrPlan['issuerRef']): boolean {
  return `${kind}.${group}/${name}` === kit.signerName;
}

function create({ kit, user }: Requester, plan: CrPlan): Promise<CertificateRequest> {
  const { asked, annotations, isCa, saysUsages, request, issuerRef } = plan;
  const unique = Buffer.from(kit.random(3)).toString('hex');
  const name = `conformance-${kit.run}-${plan.scene.toLowerCase()}-${unique}`;
  return kit.own.create<CertificateRequest>(CERTIFICATE_REQUESTS, {
    kind: 'CertificateRequest',
    metadata: { name, namespace: kit.namespace, ...(annotations && { annotations }) },
    spec: {
      request: Buffer.from(request).toString('base64'),
      issuerRef,
      isCA: isCa,
      ...(asked.lifetimeSeconds === undefined ? {} : { duration: `${asked.lifetimeSeconds}s` }),
      ...(saysUsages ? { usages: asked.usages } : {}),
      // cert-manager's webhook writes the same; issuers that decide by it, as ours, insist on the truth.
      ...user,
    },
  });
}

const ATTEMPTS = 5;

/** Approves or denies, unless cert-manager's approver was quicker. @returns the kit's own writes */
async function treat(
  kit: Kit,
  recorder: Recorder<CertificateRequest>,
  created: CertificateRequest,
  { treatment }: CrPlan,
): Promise<number> {
  if (treatment === 'leave') return 0;
  const lacking = await kit.rights.lacking(
    mayRequest(kit, ['update'], 'certificaterequests/status'),
  );
  if (lacking !== undefined) return 0;
  const type = treatment === 'deny' ? 'Denied' : 'Approved';
  let now = created;
  for (let attempt = 0; attempt < ATTEMPTS && !isDecided(now); attempt++) {
    try {
      recorder.note(await writeDecision(kit, now, type));
      return 1;
    } catch (error) {
      // 403 is cert-manager's webhook: it asks for the verb approve on the issuer.
      if (!(error instanceof KubeError) || ![403, 409, 422].includes(error.status)) throw error;
      now = await kit.client.request({
        method: 'GET',
        path: CERTIFICATE_REQUESTS.object(now.metadata),
      });
    }
  }
  return 0;
}

function writeDecision(
  kit: Kit,
  request: CertificateRequest,
  type: 'Approved' | 'Denied',
): Promise<CertificateRequest> {
  const condition = {
    type,
    status: 'True' as const,
    reason: 'Conformance',
    message: 'by countersign conformance',
    lastTransitionTime: formatTime(kit.clock()),
  };
  const conditions = [...(request.status?.conditions ?? []), condition];
  const body = { ...request, status: { ...request.status, conditions } };
  const path = CERTIFICATE_REQUESTS.object(request.metadata, 'status');
  return kit.client.request<CertificateRequest>({ method: 'PUT', path, body });
}

function isDecided({ status }: CertificateRequest): boolean {
  return ['Approved', 'Denied'].some(
    (type) => findCondition(status?.conditions, type) !== undefined,
  );
}
