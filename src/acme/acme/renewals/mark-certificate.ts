// SPDX-License-Identifier: Apache-2.0
import { CERTIFICATE_MARKED, MARK_REFUSED } from '#acme/orders/index.ts';
import type { OrderRenewal } from '#acme/orders/renewal.ts';
import { wholeSeconds } from '#acme/orders/status.ts';
import type { Order } from '#api/acme/order.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import {
  CERTIFICATE_RESOURCE,
  type CertManagerCertificate,
  controllingCertificate,
} from '#api/workload/certificate.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { writeStatus } from '../store/write-status.ts';
import { decideMark } from './decide-mark.ts';
import * as messages from '../messages.ts';

/** Result of a due renewal. */
export interface MarkOutcome {
  /** Fields for the status. Undefined if the Order renews no Certificate. */
  readonly told: Pick<OrderRenewal, 'reason' | 'message' | 'markedAt'> | undefined;
  /** Time of the next check, in milliseconds since 1970. */
  readonly lookAt: number;
}

const REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);
const CERTIFICATES = resource(CERTIFICATE_RESOURCE);
/** Interval between checks. cert-manager takes minutes, and a refusal of the mark lasts. */
const MARK_LOOK_MS = 60 * 60_000;

/** Refusals of the API server: by roles, and by admission policies. */
const REFUSALS: readonly string[] = ['KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_BAD_REQUEST'];

/**
 * Marks the Certificate of an Order for renewal. Repeated marks have one effect: cert-manager
 * removes the mark.
 *
 * @throws KubeError if the API server does not answer, or the Certificate changed since
 */
export async function markCertificate(
  component: Pick<Component, 'client' | 'clock'>,
  order: Order,
): Promise<MarkOutcome> {
  try {
    return await mark(component, order);
  } catch (error) {
    if (!(error instanceof KubeError) || !REFUSALS.includes(error.code)) throw error;
    const message = messages.renewalNotMarked(error.message);
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
  const message = messages.renewalMarked(owner.name);
  const told = { reason: CERTIFICATE_MARKED, message, markedAt: wholeSeconds(now) };
  return { told, lookAt };
}
