// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Service } from '#api/object/service.ts';

/** The pod and the Services of its namespace at one moment. */
export interface PodEvidence {
  /** The pod of the request as read from the API server, or undefined if there is none. */
  readonly pod: Pod | undefined;
  /** The Services of its namespace, or undefined if they are not needed or not listed yet. */
  readonly services: readonly Service[] | undefined;
}

/** The objects that a leaf was decided by, to be confirmed before delivery. */
export interface Proof {
  readonly pod: Pod;
  /** Services whose names the leaf has. */
  readonly services: readonly Service[];
  /** Keys of the labels that expressions could read. */
  readonly labels: readonly string[];
  /** True if the leaf has addresses of the pod. */
  readonly hasAddress: boolean;
}

/** Returns the listed labels of a pod as text for comparison. */
export function labelsText(
  labels: Readonly<Record<string, string>> | undefined,
  listed: readonly string[],
): string {
  return JSON.stringify(listed.map((key) => labels?.[key] ?? null));
}

/**
 * Reports whether a request is about this pod. NodeRestriction compares the same fields when a node
 * creates it.
 */
export function isPodOf(
  { spec: asked, metadata }: Pick<PodCertificateRequest, 'spec' | 'metadata'>,
  pod: Pod,
): boolean {
  return (
    pod.metadata.uid === asked.podUID &&
    pod.metadata.namespace === metadata.namespace &&
    pod.spec.nodeName === asked.nodeName &&
    pod.spec.serviceAccountName === asked.serviceAccountName
  );
}
