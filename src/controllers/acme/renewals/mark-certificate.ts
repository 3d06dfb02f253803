// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_MARKED, MARK_REFUSED } from '../../../acme-orders/index.ts';
import type { RenewalRecord } from '../../../acme-orders/renewal.ts';
import type { Order } from '../../../api/acme/index.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '../../../api/request/certificate-request.ts';
import {
  CERTIFICATE_RESOURCE,
  type CertManagerCertificate,
  controllingCertificate,
} from '../../../api/workload/certificate.ts';
import { ignoreNotFound, KubeError } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { serverTime } from '../../../runtime/component/server-time.ts';
import { writeStatus } from '../store/write-status.ts';
import { decideMark } from './decide-mark.ts';

/** What became of a renewal that is due. */
export interface MarkOutcome {
  /** What the status says of it; nothing where no Certificate is renewed by it. */
  readonly told: Pick<RenewalRecord, 'reason' | 'message' | 'markedAt'> | undefined;
  /** When it is looked at again; milliseconds since 1970. */
  readonly lookAt: number;
}

const REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);
const CERTIFICATES = resource(CERTIFICATE_RESOURCE);
/** cert-manager takes minutes; who refuses the mark now does so for a while. */
const MARK_LOOK_MS = 60 * 60_000;

/** Refusals of the API server: of roles, and of admission policies. */
const REFUSALS: readonly string[] = ['KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_BAD_REQUEST'];

/**
 * Marks the Certificate of an Order as to be issued anew. Done twice, it is marked once: cert-manager removes the mark.
 *
 * @throws KubeError where the API server does not answer, or the Certificate has changed since
 */
export async function markCertificate(
  component: Pick<Component, 'client' | 'clock'>,
  order: Order,
): Promise<MarkOutcome> {
  try {
    return await mark(component, order);
  } catch (error) {
    if (!(error instanceof KubeError) || !REFUSALS.includes(error.code)) throw error;
    const message = `its Certificate cannot be marked, and is renewed when cert-manager does it: ${error.message}`;
    const lookAt = serverTime(component) + MARK_LOOK_MS;
    return { told: { reason: MARK_REFUSED, message }, lookAt };
  }
}

async function mark(
  component: Pick<Component, 'client' | 'clock'>,
  order: Order,
): Promise<MarkOutcome> {
  const { client } = component;
  const { namespace } = order.metadata;
  const read = <T>(path: string): Promise<T | undefined> =>
    client.request<T>({ method: 'GET', path }).catch(ignoreNotFound);
  const { name } = order.spec.requestRef;
  const request = await read<CertificateRequest>(REQUESTS.object({ namespace, name }));
  const owner = request && controllingCertificate(request);
  const lookAt = serverTime(component) + MARK_LOOK_MS;
  if (owner === undefined) return { told: undefined, lookAt };
  const certificate = await read<CertManagerCertificate>(
    CERTIFICATES.object({ namespace, name: owner.name }),
  );
  const now = serverTime(component);
  const plan = decideMark({ order, request, certificate, now });
  if (plan.kind === 'none') return { told: undefined, lookAt };
  if (plan.kind === 'wait') return { told: undefined, lookAt: plan.until };
  const { status = {} } = plan.marked;
  await writeStatus(component, CERTIFICATES, { ...plan.marked, status });
  const message = `Certificate ${owner.name} is marked to be issued anew, as cmctl renew does`;
  return { told: { reason: CERTIFICATE_MARKED, message, markedAt: now }, lookAt };
}
