// SPDX-License-Identifier: Apache-2.0
/** What `pod-refresher` may change: RBAC grants a patch of a whole Deployment, so a policy holds it to two entries. */
import { NAMESPACE_OPTED_IN, REFRESH } from '../../refreshing/opt-in.ts';
import { CERTIFICATES, RESTARTED_AT } from '../../refreshing/record.ts';
import type { Manifest } from '../roles.ts';
import { policy } from './policies.ts';

/** The namespace opted in by its label. */
const OPTED_IN = `namespaceObject.metadata.?labels['${REFRESH}'].orValue('') == '${NAMESPACE_OPTED_IN}'`;

/** The API server counts the templates of a DaemonSet in it (apps/v1, DeprecatedTemplateGeneration). */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** The same map but for one key, which may be added, changed or removed. */
function sameBut(key: string, now: string, before: string): string {
  return [
    // An entry without a value is one as well.
    `${now}.orValue({}).all(k, k == '${key}' || (k in ${before}.orValue({}) && ${before}.orValue({})[k] == ${now}.orValue({})[k]))`,
    `&& ${before}.orValue({}).all(k, k == '${key}' || k in ${now}.orValue({}))`,
  ].join('\n');
}

/**
 * `pod-refresher` changes one annotation of a pod template and one label of its workload, where both the namespace and the
 * workload opted in, and evicts pods of such namespaces by their UID.
 *
 * @param namespace - where the components run
 * @returns two policies and their bindings
 */
export function whatIsRefreshed(namespace: string): readonly Manifest[] {
  return [...whichFieldsOfWorkloads(namespace), ...whichPods(namespace)];
}

function whichFieldsOfWorkloads(namespace: string): readonly Manifest[] {
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
    conditions: [only(namespace)],
    validations: [
      {
        expression: [
          OPTED_IN,
          `&& oldObject.metadata.?annotations['${REFRESH}'].orValue('') in ['secrets', 'restart']`,
        ].join('\n'),
        messageExpression: `${user}not restart ${workload} + ': it did not opt in, or its namespace did not'`,
      },
      {
        expression: 'object.spec.template.?spec == oldObject.spec.template.?spec',
        messageExpression: `${user}not change the pods of ${workload}`,
      },
      {
        // Every other field, those of versions to come as well.
        expression: [
          "object.spec.all(k, k == 'template' || (k in oldObject.spec && object.spec[k] == oldObject.spec[k]))",
          '&& oldObject.spec.all(k, k in object.spec)',
          '&& object.spec.template.metadata.?labels == oldObject.spec.template.metadata.?labels',
        ].join('\n'),
        messageExpression: `${user}not change the spec of ${workload}`,
      },
      {
        expression: sameBut(
          CERTIFICATES,
          'object.spec.template.metadata.?annotations',
          'oldObject.spec.template.metadata.?annotations',
        ),
        messageExpression: `${user}only change the annotation ${CERTIFICATES} of the pods of ${workload}`,
      },
      {
        expression: [
          sameBut(RESTARTED_AT, 'object.metadata.?labels', 'oldObject.metadata.?labels'),
          `&& ${sameBut(TEMPLATE_GENERATION, 'object.metadata.?annotations', 'oldObject.metadata.?annotations')}`,
          '&& object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences',
          '&& object.metadata.?finalizers == oldObject.metadata.?finalizers',
        ].join('\n'),
        messageExpression: `${user}only change the label ${RESTARTED_AT} of ${workload}`,
      },
    ],
  });
}

function whichPods(namespace: string): readonly Manifest[] {
  return policy({
    name: 'countersign-refreshed-pods',
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['pods/eviction'],
    },
    conditions: [only(namespace)],
    validations: [
      {
        expression: `${OPTED_IN}\n&& object.?deleteOptions.?preconditions.?uid.hasValue()`,
        messageExpression:
          "request.userInfo.username + ' may not evict pod ' + request.namespace + '/' + object.metadata.name + ': its namespace did not opt in, or the eviction names no UID'",
      },
    ],
  });
}

function only(namespace: string): Manifest {
  return {
    name: 'only-pod-refresher',
    expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:countersign-pod-refresher'`,
  };
}
