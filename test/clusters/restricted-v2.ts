// SPDX-License-Identifier: Apache-2.0
/**
 * Admission that treats the pods of a namespace as OpenShift's restricted-v2 does: it sets a user,
 * a group and an SELinux label of the namespace's range, and admits no others.
 */
import { until } from '../cluster/until.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { apply } from '../support/cluster/apply.ts';

const WAIT_MS = 120_000;
/** The user and the group of every pod. */
export const USER = 1_000_650_000;
export const LEVEL = 's0:c26,c5';
const NAME = 'restricted-v2';
const API = 'admissionregistration.k8s.io/v1';
const PODS = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
  ],
};
const CONTEXT = 'object.spec.?securityContext';

/** @param here - the namespace */
const policies = (here: string): readonly object[] => [
  {
    apiVersion: API,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      matchConstraints: PODS,
      matchConditions: [
        { name: 'names-no-user', expression: `!${CONTEXT}.?runAsUser.hasValue()` },
        { name: 'names-no-group', expression: `!${CONTEXT}.?fsGroup.hasValue()` },
      ],
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: `Object{spec: Object.spec{securityContext: Object.spec.securityContext{runAsUser: ${USER}, fsGroup: ${USER}, seLinuxOptions: Object.spec.securityContext.seLinuxOptions{level: "${LEVEL}"}}}}`,
          },
        },
      ],
    },
  },
  {
    apiVersion: API,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME, matchResources: matchingNamespace(here) },
  },
  {
    apiVersion: API,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      matchConstraints: PODS,
      failurePolicy: 'Fail',
      validations: ['runAsUser', 'fsGroup'].map((each) => ({
        expression: `${CONTEXT}.?${each}.orValue(0) == ${USER}`,
        message: `${each} is outside the range of the namespace`,
      })),
    },
  },
  {
    apiVersion: API,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: {
      policyName: NAME,
      validationActions: ['Deny'],
      matchResources: matchingNamespace(here),
    },
  },
];

function matchingNamespace(name: string): object {
  return { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } };
}

/** A pod that restricted-v2 refuses. */
const foreign = (namespace: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'foreign', namespace },
  spec: { securityContext: { runAsUser: 65_532 }, containers: [{ name: 'a', image: 'a' }] },
});

/** Resolves when the policies hold in the namespace, which must exist. */
export async function restrict(cluster: Cluster, namespace: string): Promise<void> {
  await apply(cluster, ...policies(namespace));
  await until('the policies hold', WAIT_MS, async () => {
    const { stderr } = await cluster.kubectl(['create', '--dry-run=server', '-f', '-'], {
      allowFailure: true,
      input: JSON.stringify(foreign(namespace)),
    });
    return stderr.includes('outside the range');
  });
}
