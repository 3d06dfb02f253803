// SPDX-License-Identifier: Apache-2.0
import { hasTrueCondition } from '#api/request/conditions.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { immutableFieldsOf, type ObjectVersion, type RequestState } from '../observed-request.ts';

/** Returns a version of a PodCertificateRequest, `at` milliseconds after its creation. */
export function pcrVersion(request: PodCertificateRequest, at: number): ObjectVersion {
  const { status, metadata } = request;
  const { notBefore, notAfter, beginRefreshAt } = status ?? {};
  return {
    at,
    resourceVersion: metadata.resourceVersion,
    state: stateOf(request),
    conditions: status?.conditions ?? [],
    pem: status?.certificateChain ?? '',
    immutableFields: immutableFieldsOf(request),
    times: { notBefore, notAfter, beginRefreshAt },
  };
}

function stateOf({ status }: PodCertificateRequest): RequestState {
  const conditions = status?.conditions;
  if (hasTrueCondition(conditions, 'Issued')) return 'issued';
  if (hasTrueCondition(conditions, 'Denied')) return 'denied';
  return hasTrueCondition(conditions, 'Failed') ? 'failed' : 'pending';
}
