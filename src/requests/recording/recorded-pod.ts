// SPDX-License-Identifier: Apache-2.0
/** Reads a pod's request back from a ledger record, the inverse of `factsOfPodRequest`. */
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { RequestFacts } from './request-record.ts';

/** The record of a request, and its time (RFC 3339). */
export type RecordedRequest = Pick<RequestFacts, 'signer' | 'request' | 'requester'> & {
  readonly at: string;
};

/**
 * Returns the request without its key. Fields that the ledger omits are empty.
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
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: {
      name,
      uid,
      namespace: pod.namespace,
      resourceVersion: '',
      creationTimestamp: at,
    },
    spec: {
      signerName: signer.name,
      podName: pod.name,
      podUID: idOf(pod).uid,
      serviceAccountName,
      serviceAccountUID,
      nodeName,
      nodeUID,
      ...(expirationSeconds === undefined ? {} : { maxExpirationSeconds: expirationSeconds }),
      ...(annotations === undefined ? {} : { unverifiedUserAnnotations: annotations }),
    },
  };
}

interface NamedReference {
  readonly name: string;
  readonly uid?: string | undefined;
}

function idOf(object: NamedReference | undefined): { readonly name: string; readonly uid: string } {
  return { name: object?.name ?? '', uid: object?.uid ?? '' };
}
