// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { hasTrueCondition, findCondition, type Condition } from '#api/request/conditions.ts';
import { immutableFieldsOf, type ObjectVersion, type RequestState } from '../observed-request.ts';

/** Returns a version of a CertificateRequest, `at` milliseconds after its creation. */
export function crVersion(request: CertificateRequest, at: number): ObjectVersion {
  const { status, metadata } = request;
  return {
    at,
    resourceVersion: metadata.resourceVersion,
    state: stateOf(request),
    conditions: status?.conditions ?? [],
    pem: pemOf(status?.certificate),
    immutableFields: immutableFieldsOf(request),
    ca: pemOf(status?.ca),
    failureTime: status?.failureTime ?? '',
  };
}

function pemOf(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1');
}

/** The final reasons of Ready=False (CertificateRequestCondition). */
const FINAL: ReadonlyMap<string | undefined, RequestState> = new Map([
  ['Denied', 'denied'],
  ['Failed', 'failed'],
]);

function stateOf({ status = {} }: CertificateRequest): RequestState {
  const { conditions } = status;
  if (pemOf(status.certificate) !== '') return 'issued';
  return endOf(conditions) ?? (hasTrueCondition(conditions, 'Approved') ? 'approved' : 'pending');
}

function endOf(conditions: readonly Condition[] | undefined): RequestState | undefined {
  const ready = findCondition(conditions, 'Ready');
  const final = ready?.status === 'False' ? FINAL.get(ready.reason) : undefined;
  if (final !== undefined) return final;
  if (hasTrueCondition(conditions, 'InvalidRequest')) return 'failed';
  return hasTrueCondition(conditions, 'Denied') ? 'denied' : undefined;
}
