// SPDX-License-Identifier: Apache-2.0
/**
 * Restricts `pod-refresher` to two entries of a workload, because RBAC grants a patch of a whole
 * Deployment.
 */
import { NAMESPACE_OPTED_IN, REFRESH } from '#workloads/refresh/opt-in.ts';
import { CERTIFICATES, RESTARTED_AT } from '#workloads/refresh/record.ts';
import type { Manifest } from '../roles.ts';
import { only } from './held/only.ts';
import { sameBut, sameMetadataBut, sameObjectBut } from './held/unchanged.ts';
import { policy } from './policies.ts';

/** The namespace opted in by its label. */
const OPTED_IN = `namespaceObject.metadata.?labels['${REFRESH}'].orValue('') == '${NAMESPACE_OPTED_IN}'`;

/**
 * Annotation in which the API server counts the templates of a DaemonSet (apps/v1,
 * DeprecatedTemplateGeneration).
 */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/**
 * Returns the policies for `pod-refresher`. It may change one annotation of a pod template and one
 * label of its workload if both the namespace and the workload opted in. It may evict pods of such
 * namespaces by their UID.
 *
 * @param namespace - namespace of the components
 * @returns two policies and their bindings
 */
export function refreshedWorkloadsPolicies(namespace: string): readonly Manifest[] {
  return [...refreshedTemplatesPolicy(namespace), ...refreshedPodsPolicy(namespace)];
}

function refreshedTemplatesPolicy(namespace: string): readonly Manifest[] {
  const user = "request.userInfo.username + ' may ";
  const workload = "' + request.kind.kind + ' ' + request.namespace + '/' + object.metadata.name";
  return policy({
    name: 'countersign-refreshed-workloads',
    rule: {
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      operations: ['UPDATE'],
      resources: ['deployments', 'statefulsets', 'daemonsets'],
    },
    conditions: [only(namespace, 'pod-refresher')],
    validations: [
      {
        expression: [
          OPTED_IN,
          `&& oldObject.metadata.?annotations['${REFRESH}'].orValue('') in ['secrets', 'restart']`,
        ].join('\n'),
        messageExpression: `${user}not restart ${workload} + ': it did not opt in, or its namespace did not'`,
      },
      {
        expression: sameBut('spec.template', ['metadata']),
        messageExpression: `${user}not change the pods of ${workload}`,
      },
      {
        expression: [sameBut('spec', ['template']), `&& ${sameObjectBut('spec', 'status')}`].join(
          '\n',
        ),
        messageExpression: `${user}not change the spec of ${workload}`,
      },
      {
        expression: [
          sameBut('spec.template.metadata', ['annotations']),
          `&& ${sameBut('spec.template.metadata.annotations', [CERTIFICATES])}`,
        ].join('\n'),
        messageExpression: `${user}only change the annotation ${CERTIFICATES} of the pods of ${workload}`,
      },
      {
        expression: [
          sameMetadataBut('labels', 'annotations'),
          `&& ${sameBut('metadata.labels', [RESTARTED_AT])}`,
          `&& ${sameBut('metadata.annotations', [TEMPLATE_GENERATION])}`,
        ].join('\n'),
        messageExpression: `${user}only change the label ${RESTARTED_AT} of ${workload}`,
      },
    ],
  });
}

function refreshedPodsPolicy(namespace: string): readonly Manifest[] {
  const pod =
    "request.userInfo.username + ' may not evict pod ' + request.namespace + '/' + object.metadata.name";
  return policy({
    name: 'countersign-refreshed-pods',
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['pods/eviction'],
    },
    conditions: [only(namespace, 'pod-refresher')],
    validations: [
      {
        expression: `${OPTED_IN}\n&& object.?deleteOptions.?preconditions.?uid.hasValue()`,
        messageExpression: `${pod} + ': its namespace did not opt in, or the eviction names no UID'`,
      },
      {
        // Deny a grace period: the pod's author sets it.
        expression: `object.deleteOptions.all(k, k in ['apiVersion', 'kind', 'preconditions'])`,
        messageExpression: `${pod} + ' with other options than its UID'`,
      },
    ],
  });
}
