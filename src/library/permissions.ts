// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { podRequestPolicyOf } from '#install/admission/policies.ts';
import type { LeasePlace } from '#component/leases.ts';
import {
  EVENTS_IN_DEFAULT,
  READ_BUNDLES,
  onMemberLeases,
  onSigners,
  readPolicies,
} from '#component/rbac/rules.ts';
import type { AuthorityType } from './define.ts';
import type { RequestKindName } from './request.ts';

/** A Secret that the process reads by name. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** Names in the roles of an author's process. */
export interface LibraryNames {
  readonly signerNames: readonly string[];
  readonly secrets: readonly SecretPlace[];
  readonly leases: LeasePlace | undefined;
}

const PLURALS = {
  CertificateSigningRequest: 'certificatesigningrequests',
  PodCertificateRequest: 'podcertificaterequests',
} as const satisfies Partial<Record<RequestKindName, string>>;

/**
 * Returns the permissions of an author's process. Like our own components, it neither approves nor
 * writes Secrets.
 */
export function libraryPermissions(
  { name, issuer, requests }: Pick<AuthorityType, 'name' | 'issuer' | 'requests'>,
  names: LibraryNames,
): readonly PermissionRule[] {
  const kubernetes = requests.filter((kind) => kind !== 'CertificateRequest');
  const ofKubernetes = kubernetes.map((kind) => PLURALS[kind]);
  const ofCertManager = kubernetes.length === requests.length ? [] : ['certificaterequests'];
  const inNamespaces =
    issuer.namespaced || requests.some((kind) => kind !== 'CertificateSigningRequest');
  return [
    { apiGroups: [issuer.group], resources: [issuer.plural], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [issuer.group], resources: [`${issuer.plural}/status`], verbs: ['update'] },
    READ_BUNDLES,
    ...onRequests('certificates.k8s.io', ofKubernetes),
    ...onRequests('cert-manager.io', ofCertManager),
    // CertificateRequests need no `sign`: cert-manager has no such verb.
    ...(kubernetes.length === 0 ? [] : onSigners({ ...names, bundles: [] }, 'sign')),
    // Events are written to the namespace of the object that they regard.
    inNamespaces ? EVENTS_EVERYWHERE : EVENTS_IN_DEFAULT,
    ...names.secrets.map(({ namespace, name }) => ({
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [name],
      verbs: ['get'],
      namespace,
    })),
    ...(requests.includes('PodCertificateRequest')
      ? [readPolicies({ leases: undefined }, [podRequestPolicyOf(name)])]
      : []),
    ...onMemberLeases({ ...names, bundles: [] }),
  ];
}

function onRequests(group: string, plurals: readonly string[]): readonly PermissionRule[] {
  if (plurals.length === 0) return [];
  const apiGroups = [group];
  return [
    { apiGroups, resources: plurals, verbs: ['get', 'list', 'watch'] },
    { apiGroups, resources: plurals.map((each) => `${each}/status`), verbs: ['update'] },
  ];
}

const EVENTS_EVERYWHERE: PermissionRule = {
  apiGroups: ['events.k8s.io'],
  resources: ['events'],
  verbs: ['create', 'patch'],
};
