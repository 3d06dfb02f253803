// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../../src/api/request/pod-certificate-request.ts';
import { requestDer } from '../pki/request-der.ts';

/** The request of pod team-a/web-0 as its kubelet writes it through v1; `spec` replaces fields. */
export function podRequest(
  spec: Partial<PodCertificateRequest['spec']> = {},
  status?: PodCertificateRequest['status'],
): PodCertificateRequest {
  const request = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: {
      namespace: 'team-a',
      name: 'req-web-0',
      uid: '5d7b4a1c-0000-4000-8000-00000000000a',
      resourceVersion: '7',
      creationTimestamp: '2026-11-21T06:00:00Z',
    },
    spec: {
      signerName: 'example.com/workload',
      podName: 'web-0',
      podUID: '5d7b4a1c-0000-4000-8000-00000000000b',
      serviceAccountName: 'web',
      serviceAccountUID: '5d7b4a1c-0000-4000-8000-00000000000c',
      nodeName: 'node-1',
      nodeUID: '5d7b4a1c-0000-4000-8000-00000000000d',
      maxExpirationSeconds: 3600,
      stubPKCS10Request: Buffer.from(requestDer()).toString('base64'),
      ...spec,
    },
  };
  return status === undefined ? request : { ...request, status };
}
