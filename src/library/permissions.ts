// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../kube/permissions.ts';
import type { LeasePlace } from '../serving/leases.ts';
import { EVENTS_IN_DEFAULT, READ_BUNDLES, onMemberLeases, onSigners } from '../serving/rules.ts';
import type { AuthorityType } from './define.ts';

/** A Secret that is read by name. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The names that the roles of an author's process must spell out. */
export interface LibraryNames {
  readonly signerNames: readonly string[];
  readonly secrets: readonly SecretPlace[];
  readonly leases: LeasePlace | undefined;
}

const PLURALS = {
  CertificateSigningRequest: 'certificatesigningrequests',
  PodCertificateRequest: 'podcertificaterequests',
} as const;

/** What an author's process holds: as our own components, it neither approves nor writes Secrets. */
export function libraryPermissions(
  { issuer, requests }: Pick<AuthorityType, 'issuer' | 'requests'>,
  names: LibraryNames,
): readonly PermissionRule[] {
  const apiGroups = ['certificates.k8s.io'];
  const served = requests.map((kind) => PLURALS[kind]);
  const pods = requests.includes('PodCertificateRequest');
  return [
    { apiGroups: [issuer.group], resources: [issuer.plural], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [issuer.group], resources: [`${issuer.plural}/status`], verbs: ['update'] },
    READ_BUNDLES,
    { apiGroups, resources: served, verbs: ['get', 'list', 'watch'] },
    { apiGroups, resources: served.map((each) => `${each}/status`), verbs: ['update'] },
    ...onSigners({ ...names, bundles: [] }, 'sign'),
    // Events regard pods and issuers, wherever those are.
    pods || issuer.namespaced ? EVENTS_EVERYWHERE : EVENTS_IN_DEFAULT,
    ...names.secrets.map(({ namespace, name }) => ({
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [name],
      verbs: ['get'],
      namespace,
    })),
    ...onMemberLeases({ ...names, bundles: [] }),
  ];
}

const EVENTS_EVERYWHERE: PermissionRule = {
  apiGroups: ['events.k8s.io'],
  resources: ['events'],
  verbs: ['create', 'patch'],
};
