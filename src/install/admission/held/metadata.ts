// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP, CLEAN_UP_FINALIZER } from '#api/acme/names.ts';
import { SIGNER_TRUST } from '#api/signer/signer.ts';
import type { Manifest } from '#install/roles.ts';
import { policy } from '../policies.ts';

/**
 * Group → resources that the roles of components let them write. A test compares it with the roles.
 * It omits the status of custom resources, whose metadata the API server keeps.
 */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  '': ['configmaps', 'pods/eviction', 'secrets'],
  [ACME_GROUP]: ['challenges', 'orders'],
  'apiextensions.k8s.io': ['customresourcedefinitions'],
  'apiregistration.k8s.io': ['apiservices'],
  apps: ['daemonsets', 'deployments', 'statefulsets'],
  'cert-manager.io': ['certificaterequests'],
  'certificates.k8s.io': [
    'certificatesigningrequests/approval',
    'certificatesigningrequests/status',
    'clustertrustbundles',
    'podcertificaterequests/status',
  ],
  'coordination.k8s.io': ['leases'],
  'events.k8s.io': ['events'],
  'gateway.networking.k8s.io': ['httproutes'],
  'networking.k8s.io': ['ingresses'],
};

/** Returns CEL for a list of the metadata, now and before. */
const listOf = (field: string): readonly [now: string, before: string] => [
  `object.metadata.?${field}.orValue([])`,
  `(oldObject == null ? [] : oldObject.metadata.?${field}.orValue([]))`,
];

/**
 * Returns the policy that denies components any change of finalizers and owners. A finalizer could
 * prevent deletion for good, and the garbage collector deletes an object whose owner does not
 * exist. The policy excludes the operator, which owns what it installs.
 *
 * @param namespace - namespace of the components
 * @returns a policy and its binding
 */
export function componentMetadataPolicy(namespace: string): readonly Manifest[] {
  const account = `system:serviceaccount:${namespace}:countersign-`;
  const isAcme = `request.userInfo.username == '${account}acme'`;
  const [finalizers, hadFinalizers] = listOf('finalizers');
  const [owners, hadOwners] = listOf('ownerReferences');
  const may = "request.userInfo.username + ' may not change the ";
  const object = " of ' + request.resource.resource + ' ' + request.namespace + '/' + request.name";
  return policy({
    name: 'countersign-component-metadata',
    rule: Object.entries(WRITTEN).map(([group, resources]) => ({
      apiGroups: [group],
      apiVersions: ['*'],
      operations: ['CREATE', 'UPDATE'],
      resources,
    })),
    conditions: [
      {
        name: 'our-components',
        expression: [
          `request.userInfo.username.startsWith('${account}')`,
          `&& request.userInfo.username != '${account}operator'`,
        ].join('\n'),
      },
    ],
    validations: [
      {
        // Its own Challenges stay until the solver has removed what proved their names.
        expression: [
          `${finalizers} == ${hadFinalizers}`,
          `|| (${isAcme} && request.resource.resource == 'challenges'`,
          `&& ${finalizers}.all(f, f == '${CLEAN_UP_FINALIZER}' || f in ${hadFinalizers})`,
          `&& ${hadFinalizers}.all(f, f == '${CLEAN_UP_FINALIZER}' || f in ${finalizers}))`,
        ].join('\n'),
        messageExpression: `${may}finalizers${object}`,
      },
      {
        expression: [
          `${owners} == ${hadOwners}`,
          // The garbage collector deletes its own Orders and Challenges with their owners.
          `|| (${isAcme} && oldObject == null && request.resource.group == '${ACME_GROUP}'`,
          `&& ${owners}.all(o, (o.kind == 'Order' && o.apiVersion.startsWith('${ACME_GROUP}/'))`,
          "|| (o.kind == 'CertificateRequest' && o.apiVersion.startsWith('cert-manager.io/'))))",
          // Another policy restricts these owners: they are Signers.
          `|| (request.userInfo.username == '${account}trust-distributor'`,
          `&& request.resource.resource == 'configmaps' && request.name == '${SIGNER_TRUST}')`,
        ].join('\n'),
        messageExpression: `${may}owners${object}`,
      },
    ],
  });
}
