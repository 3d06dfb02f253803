// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP, RENEWAL_MARK_REASON, type Order } from '../../../api/acme/index.ts';
import { formatTime } from '../../../api/object/time.ts';
import type { CertificateRequest } from '../../../api/request/certificate-request.ts';
import { conditionMessage, findCondition, setCondition } from '../../../api/request/conditions.ts';
import {
  certificateRevision,
  type CertManagerCertificate,
  controllingCertificate,
} from '../../../api/workload/certificate.ts';

/** Everything that the decision depends on. */
export interface MarkView {
  readonly order: Order;
  /** The one that the Order is for. */
  readonly request: CertificateRequest | undefined;
  /** The one that made the request. */
  readonly certificate: CertManagerCertificate | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What is done to have a certificate renewed. */
export type MarkPlan =
  | { readonly kind: 'mark'; readonly marked: CertManagerCertificate }
  /** It is being issued, or waits after a failure. */
  | { readonly kind: 'wait'; readonly until: number }
  /** No Certificate is renewed by it. */
  | { readonly kind: 'none' };

const HOUR = 60 * 60_000;
/** cert-manager waits an hour after a failure, doubling (pkg/controller/certificates/trigger, backoff). */
const MAX_DOUBLINGS = 5;

/**
 * Whether the Certificate is marked as `cmctl renew` does. Only that whose Secret has the certificate of this Order, which
 * names the Order's signer, and which is not being issued already.
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

/** When cert-manager itself would try again; in the past where nothing failed. */
function retryAt({ status }: CertManagerCertificate): number {
  const { lastFailureTime, failedIssuanceAttempts = 1 } = status ?? {};
  if (lastFailureTime === undefined) return 0;
  const doublings = Math.min(Math.max(failedIssuanceAttempts - 1, 0), MAX_DOUBLINGS);
  return Date.parse(lastFailureTime) + HOUR * 2 ** doublings;
}

function isOfSigner({ spec }: CertManagerCertificate, { spec: { signerRef } }: Order): boolean {
  const { group, kind, name } = spec.issuerRef ?? {};
  return group === ACME_GROUP && kind === signerRef.kind && name === signerRef.name;
}

/** As `cmctl renew` writes it (cmd/ctl/pkg/renew), but for reason and message. */
function withIssuing(
  certificate: CertManagerCertificate,
  order: Order,
  now: number,
): CertManagerCertificate {
  const { generation } = certificate.metadata;
  const { windowStart = '', windowEnd = '' } = order.status.renewal ?? {};
  const condition = {
    ...({ type: 'Issuing', status: 'True', reason: RENEWAL_MARK_REASON } as const),
    message: conditionMessage(`The CA suggests to renew it from ${windowStart} to ${windowEnd}`),
    lastTransitionTime: formatTime(now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  const conditions = setCondition(certificate.status?.conditions, condition);
  return { ...certificate, status: { ...certificate.status, conditions } };
}
