// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { stubRequest } from './stub-pkcs10.ts';

/** A PodCertificateRequest for a pod, a ServiceAccount and a node that its writer invented. */
export function forgedRequest(
  apiVersion: string,
  whose: { readonly namespace: string; readonly signerName: string },
): Record<string, unknown> {
  return {
    apiVersion,
    kind: 'PodCertificateRequest',
    metadata: { name: `forged-${randomUUID()}`, namespace: whose.namespace },
    spec: {
      signerName: whose.signerName,
      podName: 'invented',
      podUID: randomUUID(),
      serviceAccountName: 'default',
      serviceAccountUID: randomUUID(),
      nodeName: 'node-1',
      nodeUID: randomUUID(),
      stubPKCS10Request: stubRequest(),
    },
  };
}
