// SPDX-License-Identifier: Apache-2.0
/** Defines profiles of Kubernetes' own signer names, so that users need not write them. */
import { DEFAULT_PROFILE, type ConformanceProfile } from './profile.ts';

const CLIENT_USAGES = ['digital signature', 'client auth'];

/**
 * kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
 */
const KNOWN: Readonly<Record<string, Partial<ConformanceProfile>>> = {
  'kubernetes.io/kube-apiserver-client': {
    commonName: 'conformance',
    usages: CLIENT_USAGES,
    clientAuthentication: true,
  },
  'kubernetes.io/kube-apiserver-client-kubelet': {
    commonName: 'system:node:conformance',
    organizations: ['system:nodes'],
    usages: CLIENT_USAGES,
    clientAuthentication: true,
    kubernetesNames: true,
  },
  'kubernetes.io/kubelet-serving': {
    commonName: 'system:node:conformance',
    organizations: ['system:nodes'],
    dnsNames: ['conformance.example.com'],
    usages: ['digital signature', 'server auth'],
    kubernetesNames: true,
  },
};

/** Returns the initial profile. */
export function profileOf(signerName: string): ConformanceProfile {
  return { ...DEFAULT_PROFILE, ...KNOWN[signerName] };
}
