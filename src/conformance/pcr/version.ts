// SPDX-License-Identifier: Apache-2.0
import { hasTrueCondition } from '../../api/request/conditions.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { frameOf } from '../frame.ts';
import type { Snapshot, State } from '../observed-request.ts';

/** A version of a PodCertificateRequest, `at` milliseconds after its creation. */
export function pcrSnapshot(request: PodCertificateRequest, at: number): Snapshot {
  const { status, metadata } = request;
  const { notBefore, notAfter, beginRefreshAt } = status ?? {};
  return {
    at,
    resourceVersion: metadata.resourceVersion,
    state: stateOf(request),
    conditions: status?.conditions ?? [],
    pem: status?.certificateChain ?? '',
    frame: frameOf(request),
    times: { notBefore, notAfter, beginRefreshAt },
  };
}

function stateOf({ status }: PodCertificateRequest): State {
  const conditions = status?.conditions;
  if (hasTrueCondition(conditions, 'Issued')) return 'issued';
  if (hasTrueCondition(conditions, 'Denied')) return 'denied';
  return hasTrueCondition(conditions, 'Failed') ? 'failed' : 'pending';
}
