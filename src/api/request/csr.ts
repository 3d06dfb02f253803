// SPDX-License-Identifier: Apache-2.0
/** `certificates.k8s.io/v1` CertificateSigningRequest: wire types and transitions. */
import { conditionMessage, hasTrueCondition, type Condition } from './conditions.ts';
import type { KubeObject } from '../object/object.ts';
import type { Requester } from './reviewable-request.ts';
import { formatTime } from '../object/time.ts';

/** Group, version and plural of the kind, for URLs and RBAC rules. */
export const CSR_RESOURCE = {
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
} as const;

export interface CertificateSigningRequest extends KubeObject {
  readonly spec: Requester & {
    /** base64 of PEM. */
    readonly request: string;
    readonly signerName: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    /** base64 of PEM: leaf first. */
    readonly certificate?: string;
  };
}

export function isApproved(csr: CertificateSigningRequest): boolean {
  return hasTrueCondition(csr.status?.conditions, 'Approved');
}

/** Reports whether the request is final: denied, failed, or issued. */
export function isFinished(csr: CertificateSigningRequest): boolean {
  const conditions = csr.status?.conditions;
  const certificate = csr.status?.certificate;
  return (
    hasTrueCondition(conditions, 'Denied') ||
    hasTrueCondition(conditions, 'Failed') ||
    (certificate !== undefined && certificate !== '')
  );
}

/** Returns the object for PUT /approval. */
export function withApproval(
  csr: CertificateSigningRequest,
  decision: { type: 'Approved' | 'Denied'; reason: string; message: string },
  now: number,
): CertificateSigningRequest {
  return withCondition(csr, { ...decision, status: 'True' }, now);
}

/** Returns the object for PUT /status that permanently fails a request. */
export function withFailed(
  csr: CertificateSigningRequest,
  failure: { reason: string; message: string },
  now: number,
): CertificateSigningRequest {
  return withCondition(csr, { ...failure, type: 'Failed', status: 'True' }, now);
}

/** Returns the object for PUT /status that delivers `pem` (leaf first, without the root). */
export function withCertificate(
  csr: CertificateSigningRequest,
  pem: string,
): CertificateSigningRequest {
  return {
    ...csr,
    status: { ...csr.status, certificate: Buffer.from(pem, 'latin1').toString('base64') },
  };
}

/**
 * Returns the body of a PUT to `/status` or `/approval`. It omits the spec, which the API server
 * keeps (certificates/strategy.go, PrepareForUpdate), and managedFields, which the API server
 * computes. It keeps the rest of the metadata, which the API server would otherwise clear.
 */
export function csrWriteBody({
  apiVersion,
  kind,
  metadata,
  status,
}: CertificateSigningRequest): Omit<CertificateSigningRequest, 'spec'> {
  const { managedFields: _, ...kept } = metadata;
  const body = { apiVersion, kind, metadata: kept };
  return status === undefined ? body : { ...body, status };
}

function withCondition(
  csr: CertificateSigningRequest,
  {
    type,
    status,
    reason,
    message,
  }: Required<Pick<Condition, 'type' | 'status' | 'reason' | 'message'>>,
  now: number,
): CertificateSigningRequest {
  const time = formatTime(now);
  // Callers pass plans and decisions, which have more members than a condition.
  const full = {
    type,
    status,
    reason,
    message: conditionMessage(message),
    lastUpdateTime: time,
    lastTransitionTime: time,
  };
  return {
    ...csr,
    status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), full] },
  };
}
