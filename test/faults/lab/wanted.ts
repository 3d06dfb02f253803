// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { resource } from '#kube/resource/resource.ts';

export const KINDS = ['csr', 'pcr', 'cr'] as const;
export type Kind = (typeof KINDS)[number];
export type AnyRequest = CertificateSigningRequest | PodCertificateRequest | CertificateRequest;

/** A request that the lab made, and that must end well. */
export interface Wanted {
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string;
}

const GROUP = { group: 'certificates.k8s.io', version: 'v1' } as const;

export const RESOURCES = {
  csr: resource({ ...GROUP, plural: 'certificatesigningrequests' }),
  pcr: resource({ ...GROUP, plural: 'podcertificaterequests' }),
  cr: resource({
    group: CERT_MANAGER_GROUP,
    version: CERT_MANAGER_VERSION,
    plural: 'certificaterequests',
  }),
} as const;

export const SIGNER_NAMES = { csr: 'example.com/people', pcr: 'example.com/workload' } as const;

/** Where the pods are said to be: deploy/examples/workload.yaml allows `team-`. */
export const NAMESPACE = 'team-faults';

export function pathOf(
  { kind, name }: Pick<Wanted, 'kind' | 'name'>,
  subresource?: string,
): string {
  const namespace = namespaceOf(kind);
  return RESOURCES[kind].object({ namespace, name }, subresource);
}

/** Undefined for the one kind that has none. */
export function namespaceOf(kind: Kind): string | undefined {
  return kind === 'csr' ? undefined : NAMESPACE;
}
