// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { requestDer } from '../pki/request-der.ts';
import { openEnvelope } from '#kube/protobuf/envelope.ts';
import { readPodCertificateRequest } from '#api/request/pod-certificate-request-message.ts';

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

/** Field 2, the spec, which a write of the status leaves out and every reader wants: empty. */
const EMPTY_SPEC = Uint8Array.of(0x12, 0);

/** The body of a write of a PodCertificateRequest's status, without a spec as it is sent. */
export function readSent(body: unknown): PodCertificateRequest {
  const { type, raw } = openEnvelope(body as Uint8Array);
  const { spec: _spec, ...sent } = readPodCertificateRequest(
    type,
    Buffer.concat([raw, EMPTY_SPEC]),
  );
  return sent as PodCertificateRequest;
}
