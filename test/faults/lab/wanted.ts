// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../../src/api/csr.ts';
import type { PodCertificateRequest } from '../../../src/api/pod-certificate-request.ts';
import { resource } from '../../../src/kube/resource.ts';

export type Kind = 'csr' | 'pcr';
export type AnyRequest = CertificateSigningRequest | PodCertificateRequest;

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
} as const;

export const SIGNER_NAMES = { csr: 'example.com/people', pcr: 'example.com/workload' } as const;

/** Where the pods are said to be: deploy/examples/workload.yaml allows `team-`. */
export const NAMESPACE = 'team-faults';

export function pathOf({ kind, name }: Pick<Wanted, 'kind' | 'name'>): string {
  return RESOURCES[kind].object(kind === 'csr' ? { name } : { namespace: NAMESPACE, name });
}
