// SPDX-License-Identifier: Apache-2.0
/** The objects of one member on its hub: its account, and what this account may do. */
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { FLEET_MEMBERS } from '#api/signer/fleet-member.ts';
import { memberRequestNames } from '#api/signer/upstream-hub.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { onBundles } from '#component/rbac/rules.ts';
import { LABELS } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { memberTokensPolicy } from './member-policies.ts';

/** A member of a fleet, as its hub knows it. */
export interface Member {
  /** Name of the cluster, and of its ServiceAccount. */
  readonly cluster: string;
  /** Namespace of the ServiceAccounts of all members. */
  readonly namespace: string;
  /** Signer name of the hub. */
  readonly signerName: string;
  /** Last part of the name of the hub's bundle. */
  readonly bundle: string;
  /** Longest life of its tokens. */
  readonly tokenSeconds: number;
}

const RBAC = 'rbac.authorization.k8s.io';

/** Name of the roles and bindings of a member. Neither part has a dot. */
function memberRoleName({ cluster, namespace }: Member): string {
  return `countersign-fleet-member-${cluster}.${namespace}`;
}

/**
 * Returns what a member may do in the whole cluster. RBAC cannot restrict `create` by name, so a
 * policy restricts it (member-policies.ts). Members read the requests of their own names only.
 */
function memberClusterRules(member: Member): readonly PermissionRule[] {
  const { signerName, bundle } = member;
  const { group, plural } = CSR_RESOURCE;
  const requests = { apiGroups: [group], resources: [plural] };
  return [
    { ...requests, verbs: ['create'] },
    { ...requests, verbs: ['get'], resourceNames: memberRequestNames(member) },
    ...onBundles([bundleName(signerName, bundle)], ['get']),
    // Installations with who-may-request require this verb.
    { apiGroups: [group], resources: ['signers'], verbs: ['request'], resourceNames: [signerName] },
  ];
}

/**
 * Returns what a member may do in the namespace of the accounts: renew its own token, and report.
 */
function memberNamespaceRules({ cluster }: Member): readonly PermissionRule[] {
  return [
    {
      apiGroups: [''],
      resources: ['serviceaccounts/token'],
      verbs: ['create'],
      resourceNames: [cluster],
    },
    {
      apiGroups: [FLEET_MEMBERS.group],
      resources: [`${FLEET_MEMBERS.plural}/status`],
      verbs: ['patch'],
      resourceNames: [cluster],
    },
  ];
}

/** Returns the object in which a member reports. */
export function memberObject({ cluster, namespace, signerName }: Member): Manifest {
  const { group, version } = FLEET_MEMBERS;
  return {
    apiVersion: `${group}/${version}`,
    kind: 'FleetMember',
    metadata: { name: cluster, namespace, labels: LABELS },
    spec: { signerName },
  };
}

/**
 * Returns the ServiceAccount, the roles and bindings, and the policy of a member. The account is
 * first: without it, the rest is of no use.
 */
export function memberObjects(member: Member): readonly Manifest[] {
  const { cluster, namespace } = member;
  const name = memberRoleName(member);
  const subjects = [{ kind: 'ServiceAccount', name: cluster, namespace }];
  const pair = (
    kind: 'ClusterRole' | 'Role',
    rules: readonly PermissionRule[],
    place: { readonly namespace?: string },
  ): readonly Manifest[] => {
    const metadata = { name, ...place, labels: LABELS };
    const roleRef = { apiGroup: RBAC, kind, name };
    return [
      { apiVersion: `${RBAC}/v1`, kind, metadata, rules: rules.map((rule) => ({ ...rule })) },
      { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata, roleRef, subjects },
    ];
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: cluster, namespace, labels: LABELS },
      automountServiceAccountToken: false,
    },
    ...pair('ClusterRole', memberClusterRules(member), {}),
    ...pair('Role', memberNamespaceRules(member), { namespace }),
    ...memberTokensPolicy(member),
  ];
}
