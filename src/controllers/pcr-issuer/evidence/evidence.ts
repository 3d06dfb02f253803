// SPDX-License-Identifier: Apache-2.0
import type { Pod } from '../../../api/object/pod.ts';
import type { PodCertificateRequest } from '../../../api/request/pod-certificate-request.ts';
import type { Service } from '../../../api/object/service.ts';

/** What the API server said of a pod and of the Services of its namespace at one moment. */
export interface PodEvidence {
  /** The pod that the request is about, read from the API server; undefined: there is none. */
  readonly pod: Pod | undefined;
  /** The Services of its namespace, as the watch shows them; undefined: nobody asked, or they are not listed yet. */
  readonly services: readonly Service[] | undefined;
}

/** What a leaf was decided by, to be looked at once more before it is delivered. */
export interface Proof {
  readonly pod: Pod;
  /** Those whose names the leaf has. */
  readonly services: readonly Service[];
  /** The labels that expressions saw. */
  readonly labels: readonly string[];
  /** Whether the leaf has addresses of the pod. */
  readonly hasAddress: boolean;
}

/** The pod's labels that are listed, for comparison. */
export function labelsText(
  labels: Readonly<Record<string, string>> | undefined,
  listed: readonly string[],
): string {
  return JSON.stringify(listed.map((key) => labels?.[key] ?? null));
}

/** Whether a request is about this pod: NodeRestriction compares the same fields when a node creates it. */
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
