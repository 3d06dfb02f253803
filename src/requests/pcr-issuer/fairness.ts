// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { FlowAssignment } from '#kube/workqueue/fair-queue.ts';
import type { Clock } from '#base/ports.ts';
import { namespaceFlow } from '#component/cpu-accounting.ts';
import type { Intern } from '../loop/interner.ts';
import type { Renewals } from './renewals.ts';

/** Decides the order of PodCertificateRequests. */
export interface PcrFairness {
  readonly keyOf: (request: PodCertificateRequest) => FlowAssignment;
  readonly retainedFields: (request: PodCertificateRequest, shared: Intern) => object;
  /** Records a completed request, whichever replica completed it. */
  readonly finished: (request: PodCertificateRequest) => void;
}

/**
 * Creates fairness by namespace and node. A namespace is a tenant. A node that restarts requests
 * certificates for all its pods at once. Both names are reliable: NodeRestriction and our admission
 * policy let only the node itself create requests, and only for pods that it runs.
 */
export function createPcrFairness(renewals: Renewals, clock: Clock): PcrFairness {
  return {
    keyOf: (request) => ({
      distinguishers: [namespaceFlow(request), `node ${request.spec.nodeName}`],
      deadline: renewals.overdue(request, clock()),
    }),
    retainedFields: ({ spec: { signerName, nodeName, podUID, maxExpirationSeconds } }, shared) => ({
      spec: {
        signerName: shared(signerName),
        nodeName: shared(nodeName),
        podUID,
        maxExpirationSeconds,
      },
    }),
    finished: renewals.note,
  };
}
