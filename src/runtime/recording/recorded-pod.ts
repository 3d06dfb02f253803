// SPDX-License-Identifier: Apache-2.0
/** A pod's request as a record of the ledger has it: what `askedOfPod` made of it, read back. */
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import type { AskedFacts } from './asked.ts';

/** The record of a request, and when it was made (RFC 3339). */
export type RecordedRequest = Pick<AskedFacts, 'signer' | 'request' | 'requester'> & {
  readonly at: string;
};

/**
 * The request without its key. What the ledger was told to leave out is empty.
 *
 * @returns undefined for a record that names no pod
 */
export function podRequestOf(record: RecordedRequest): PodCertificateRequest | undefined {
  const { signer, requester, at } = record;
  const { name, uid, annotations, expirationSeconds } = record.request;
  const { pod } = requester;
  if (pod === undefined) return undefined;
  const { name: serviceAccountName, uid: serviceAccountUID } = idOf(requester.serviceAccount);
  const { name: nodeName, uid: nodeUID } = idOf(requester.node);
  return {
    ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'PodCertificateRequest' },
    metadata: {
      ...{ name, uid, namespace: pod.namespace },
      ...{ resourceVersion: '', creationTimestamp: at },
    },
    spec: {
      ...{ signerName: signer.name, podName: pod.name, podUID: idOf(pod).uid },
      ...{ serviceAccountName, serviceAccountUID, nodeName, nodeUID },
      ...(expirationSeconds === undefined ? {} : { maxExpirationSeconds: expirationSeconds }),
      ...(annotations === undefined ? {} : { unverifiedUserAnnotations: annotations }),
    },
  };
}

interface Named {
  readonly name: string;
  readonly uid?: string | undefined;
}

function idOf(object: Named | undefined): { readonly name: string; readonly uid: string } {
  return { name: object?.name ?? '', uid: object?.uid ?? '' };
}
