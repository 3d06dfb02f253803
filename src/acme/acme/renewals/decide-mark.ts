// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP, RENEWAL_MARK_REASON } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { formatTime } from '#api/object/time.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { conditionMessage, findCondition, setCondition } from '#api/request/conditions.ts';
import {
  certificateRevision,
  type CertManagerCertificate,
  controllingCertificate,
} from '#api/workload/certificate.ts';
import * as messages from '../messages.ts';

/** Input of the decision. */
export interface MarkView {
  readonly order: Order;
  /** Request of the Order. */
  readonly request: CertificateRequest | undefined;
  /** Certificate that created the request. */
  readonly certificate: CertManagerCertificate | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Next action for a due renewal. */
export type MarkPlan =
  | { readonly kind: 'mark'; readonly marked: CertManagerCertificate }
  /** cert-manager issues it now, or waits after a failure. */
  | { readonly kind: 'wait'; readonly until: number }
  /** The Order renews no Certificate. */
  | { readonly kind: 'none' };

const HOUR = 60 * 60_000;
/**
 * cert-manager waits an hour after a failure, doubling (pkg/controller/certificates/trigger,
 * backoff).
 */
const MAX_DOUBLINGS = 5;

/**
 * Decides whether to mark the Certificate as `cmctl renew` does. Its Secret must have the
 * certificate of this Order, it must name the Order's signer, and cert-manager must not be issuing
 * it.
 */
export function decideMark({ order, request, certificate, now }: MarkView): MarkPlan {
  if (request === undefined || certificate === undefined) return { kind: 'none' };
  if (!isRenewedBy(certificate, request, order)) return { kind: 'none' };
  const { conditions } = certificate.status ?? {};
  if (findCondition(conditions, 'Issuing')?.status === 'True')
    return { kind: 'wait', until: now + HOUR };
  const until = retryAt(certificate);
  if (until > now) return { kind: 'wait', until };
  return { kind: 'mark', marked: withIssuing(certificate, order, now) };
}

function isRenewedBy(
  certificate: CertManagerCertificate,
  request: CertificateRequest,
  order: Order,
): boolean {
  return (
    request.metadata.uid === order.spec.requestRef.uid &&
    controllingCertificate(request)?.uid === certificate.metadata.uid &&
    isOfSigner(certificate, order) &&
    certificateRevision(request) === certificate.status?.revision
  );
}

/** Returns the time of cert-manager's next attempt, or a past time without a failure. */
function retryAt({ status }: CertManagerCertificate): number {
  const { lastFailureTime, failedIssuanceAttempts = 1 } = status ?? {};
  if (lastFailureTime === undefined) return 0;
  const doublings = Math.min(Math.max(failedIssuanceAttempts - 1, 0), MAX_DOUBLINGS);
  return Date.parse(lastFailureTime) + HOUR * 2 ** doublings;
}

function isOfSigner({ spec }: CertManagerCertificate, { spec: { signerRef } }: Order): boolean {
  const { group, kind, name } = spec?.issuerRef ?? {};
  return group === ACME_GROUP && kind === signerRef.kind && name === signerRef.name;
}

/**
 * Adds the condition as `cmctl renew` does (cmd/ctl/pkg/renew), with another reason and message.
 */
function withIssuing(
  certificate: CertManagerCertificate,
  order: Order,
  now: number,
): CertManagerCertificate {
  const { generation } = certificate.metadata;
  const { windowStart = '', windowEnd = '' } = order.status.renewal ?? {};
  const condition = {
    ...({ type: 'Issuing', status: 'True', reason: RENEWAL_MARK_REASON } as const),
    message: conditionMessage(messages.renewalSuggested(windowStart, windowEnd)),
    lastTransitionTime: formatTime(now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  const conditions = setCondition(certificate.status?.conditions, condition);
  return { ...certificate, status: { ...certificate.status, conditions } };
}
