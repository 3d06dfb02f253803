// SPDX-License-Identifier: Apache-2.0
/** `certificates.k8s.io` PodCertificateRequest, v1 and v1beta1: wire types and transitions. */
import { conditionMessage, hasTrueCondition, type Condition } from './conditions.ts';
import type { KubeObject } from '../object/object.ts';
import { formatTime } from '../object/time.ts';

export interface PodCertificateRequest extends KubeObject {
  readonly spec: {
    readonly signerName: string;
    readonly podName: string;
    readonly podUID: string;
    readonly serviceAccountName: string;
    readonly serviceAccountUID: string;
    readonly nodeName: string;
    readonly nodeUID: string;
    readonly maxExpirationSeconds?: number;
    /** base64 of DER (v1, and v1beta1 from 1.36). */
    readonly stubPKCS10Request?: string | null;
    /** base64 of DER SubjectPublicKeyInfo (v1beta1 only). */
    readonly pkixPublicKey?: string | null;
    /** base64 (v1beta1 only). */
    readonly proofOfPossession?: string | null;
    readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    /** PEM text: leaf first. */
    readonly certificateChain?: string;
    readonly notBefore?: string;
    readonly beginRefreshAt?: string;
    readonly notAfter?: string;
  };
}

/** `spec.maxExpirationSeconds` when absent (zz_generated.defaults.go of the API group). */
export const DEFAULT_MAX_EXPIRATION_SECONDS = 86_400;

/**
 * Shortest leaf. The API server rejects shorter ones (validation.go,
 * ValidatePodCertificateRequestStatusUpdate).
 */
export const MIN_LIFETIME_SECONDS = 3_600;

/** Distance that beginRefreshAt must keep from both ends (the same function). */
export const REFRESH_MARGIN_SECONDS = 600;

export function isTerminal({ status }: Pick<PodCertificateRequest, 'status'>): boolean {
  return ENDS.some((type) => hasTrueCondition(status?.conditions, type));
}

const ENDS = ['Issued', 'Denied', 'Failed'] as const;

/**
 * The result of an issued request. Times are in milliseconds, in whole seconds, and equal the
 * leaf's.
 */
export interface IssuedPodCertificate {
  readonly chainPem: string;
  readonly notBefore: number;
  readonly beginRefreshAt: number;
  readonly notAfter: number;
}

/**
 * Returns the object for PUT /status that delivers a chain. The whole status is immutable
 * afterwards.
 */
export function withIssued(
  request: PodCertificateRequest,
  issued: IssuedPodCertificate,
  now: number,
): PodCertificateRequest {
  return {
    ...request,
    status: {
      conditions: [
        {
          type: 'Issued',
          status: 'True',
          reason: 'Issued',
          message: '',
          lastTransitionTime: formatTime(now),
        },
      ],
      certificateChain: issued.chainPem,
      notBefore: formatTime(issued.notBefore),
      beginRefreshAt: formatTime(issued.beginRefreshAt),
      notAfter: formatTime(issued.notAfter),
    },
  };
}

/** Well-known reasons of `Denied` (API docs of PodCertificateRequestStatus), and ours. */
export type DeniedReason =
  | 'UnsupportedKeyType'
  | 'InvalidUnverifiedUserAnnotations'
  | 'NotAllowed'
  | 'NonEmptyStubRequest'
  | 'HolderRevoked';

/**
 * Returns the object for PUT /status that permanently denies a request: the pod cannot start or
 * refresh.
 */
export function withDenied(
  request: PodCertificateRequest,
  denial: { reason: DeniedReason; message: string },
  now: number,
): PodCertificateRequest {
  return ended(request, 'Denied', denial, now);
}

/**
 * Returns the object for PUT /status that permanently fails a request. The pod sees no difference
 * to a denial.
 */
export function withFailed(
  request: PodCertificateRequest,
  failure: { reason: string; message: string },
  now: number,
): PodCertificateRequest {
  return ended(request, 'Failed', failure, now);
}

/**
 * Returns the object for a final condition. Denied and Failed have no chain and no times
 * (validation.go).
 */
function ended(
  request: PodCertificateRequest,
  type: 'Denied' | 'Failed',
  why: { reason: string; message: string },
  now: number,
): PodCertificateRequest {
  const condition: Condition = {
    type,
    status: 'True',
    reason: why.reason,
    message: conditionMessage(why.message),
    lastTransitionTime: formatTime(now),
  };
  return { ...request, status: { conditions: [condition] } };
}
