// SPDX-License-Identifier: Apache-2.0
/** `cert-manager.io/v1` CertificateRequest: wire types and transitions. */
import { conditionMessage, findCondition, setCondition, type Condition } from './conditions.ts';
import type { KubeObject } from '../object/object.ts';
import type { Requester } from './reviewable-request.ts';
import { formatTime } from '../object/time.ts';

export const CERT_MANAGER_GROUP = 'cert-manager.io';
export const CERT_MANAGER_VERSION = 'v1';

/** Group, version and plural of the kind, for URLs and RBAC rules. */
export const CERTIFICATE_REQUEST_RESOURCE = {
  group: CERT_MANAGER_GROUP,
  version: CERT_MANAGER_VERSION,
  plural: 'certificaterequests',
} as const;

export interface CertificateRequest extends KubeObject {
  readonly spec: Requester & {
    /** base64 of PEM. */
    readonly request: string;
    readonly issuerRef: IssuerReference;
    /** Go duration. */
    readonly duration?: string;
    readonly isCA?: boolean;
    readonly usages?: readonly string[];
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    /** base64 of PEM: leaf first. */
    readonly certificate?: string;
    /** base64 of PEM. */
    readonly ca?: string;
    readonly failureTime?: string;
  };
}

/**
 * Returns a stored CertificateRequest whose spec can be read. The definition allows one without a
 * spec, which only the webhook of cert-manager refuses: it then requests nothing, of no issuer.
 */
export function withSpec<R extends Partial<Pick<CertificateRequest, 'spec'>>>(
  stored: R,
): R & Pick<CertificateRequest, 'spec'> {
  return { ...stored, spec: stored.spec ?? { request: '', issuerRef: { name: '' } } };
}

export interface IssuerReference {
  readonly name: string;
  readonly kind?: string;
  readonly group?: string;
}

/** The default of `spec.usages` (cert-manager.io/v1). */
export const DEFAULT_USAGES = ['digital signature', 'key encipherment'] as const;

/** Reasons of `Ready` that end a request (pkg/apis/certmanager/v1/types_certificaterequest.go). */
const FINAL_REASONS: readonly string[] = ['Issued', 'Failed', 'Denied'];

export function isApproved(request: CertificateRequest): boolean {
  return isTrue(request, 'Approved');
}

export function isDenied(request: CertificateRequest): boolean {
  return isTrue(request, 'Denied');
}

/** Reports whether the request is final: issued, failed, or marked as denied. */
export function isFinished(request: CertificateRequest): boolean {
  const { conditions, certificate = '' } = request.status ?? {};
  const ready = findCondition(conditions, 'Ready');
  const isFinal = FINAL_REASONS.includes(ready?.reason ?? '') || ready?.status === 'True';
  return isFinal || isTrue(request, 'InvalidRequest') || certificate !== '';
}

/** Reports whether the request has no Ready condition yet. */
export function isUntouched({ status }: CertificateRequest): boolean {
  return findCondition(status?.conditions, 'Ready') === undefined;
}

/**
 * Returns the object for PUT /status of a request that an issuer accepts (issuer-lib,
 * "Reconciliation loops").
 */
export function withInitializing(request: CertificateRequest, now: number): CertificateRequest {
  const words = { reason: 'Initializing', message: 'The issuer is processing the request' };
  const ready = condition('Ready', 'Unknown', words, now);
  const conditions = setCondition(request.status?.conditions, ready);
  return { ...request, status: { ...request.status, conditions } };
}

/**
 * Returns the object for PUT /status that shows why an approved request waits. It has the reason
 * and the status of cert-manager's own issuers
 * (pkg/controller/certificaterequests/util/reporter.go).
 */
export function withPending(
  request: CertificateRequest,
  message: string,
  now: number,
): CertificateRequest {
  const ready = condition('Ready', 'False', { reason: 'Pending', message }, now);
  const conditions = setCondition(request.status?.conditions, ready);
  return { ...request, status: { ...request.status, conditions } };
}

/** The PEM for the status of an issued request. */
export interface IssuedCertificate {
  /** Leaf first, without the root. */
  readonly chain: string;
  /** The trust anchors of the chain. */
  readonly anchors: string;
}

/** Returns the object for PUT /status that delivers a certificate. */
export function withIssued(
  request: CertificateRequest,
  { chain, anchors }: IssuedCertificate,
  now: number,
): CertificateRequest {
  const message = 'Certificate fetched from issuer successfully';
  const ready = condition('Ready', 'True', { reason: 'Issued', message }, now);
  return {
    ...request,
    status: {
      ...request.status,
      conditions: setCondition(request.status?.conditions, ready),
      certificate: base64(chain),
      // Its schema rejects empty text, so the field is left out if the anchors are unknown.
      ...(anchors === '' ? {} : { ca: base64(anchors) }),
    },
  };
}

/**
 * Returns the object for PUT /status with a user's decision, as `cmctl approve` and `cmctl deny`
 * write it.
 */
export function withApproval(
  request: CertificateRequest,
  { type, ...words }: { type: 'Approved' | 'Denied'; reason: string; message: string },
  now: number,
): CertificateRequest {
  const decided = condition(type, 'True', words, now);
  const conditions = setCondition(request.status?.conditions, decided);
  return { ...request, status: { ...request.status, conditions } };
}

/** Returns the object for PUT /status that marks a denied request as such. */
export function withDenied(request: CertificateRequest, now: number): CertificateRequest {
  const message = 'The CertificateRequest was denied by an approval controller';
  return failed(request, [condition('Ready', 'False', { reason: 'Denied', message }, now)], now);
}

/**
 * Returns the object for PUT /status that permanently fails a request. `InvalidRequest` carries the
 * reason, because `Ready` allows only a few fixed reasons. cert-manager shows it in the
 * Certificate.
 */
export function withFailed(
  request: CertificateRequest,
  failure: { readonly reason: string; readonly message: string },
  now: number,
): CertificateRequest {
  const message = `${failure.reason}: ${failure.message}`;
  return failed(
    request,
    [
      condition('InvalidRequest', 'True', failure, now),
      condition('Ready', 'False', { reason: 'Failed', message }, now),
    ],
    now,
  );
}

function failed(
  request: CertificateRequest,
  conditions: readonly (Condition & { readonly lastTransitionTime: string })[],
  now: number,
): CertificateRequest {
  const { status } = request;
  let all = status?.conditions;
  for (const each of conditions) all = setCondition(all, each);
  // Keep the first failure time: cert-manager computes its next attempt from it.
  const failureTime = status?.failureTime ?? formatTime(now);
  return { ...request, status: { ...status, conditions: all ?? [], failureTime } };
}

function condition(
  type: string,
  status: Condition['status'],
  { reason, message }: { readonly reason: string; readonly message: string },
  now: number,
): Condition & { readonly lastTransitionTime: string } {
  const cut = conditionMessage(message);
  return { type, status, reason, message: cut, lastTransitionTime: formatTime(now) };
}

function isTrue({ status }: CertificateRequest, type: string): boolean {
  return findCondition(status?.conditions, type)?.status === 'True';
}

function base64(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}
