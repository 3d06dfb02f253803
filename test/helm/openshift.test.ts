// SPDX-License-Identifier: Apache-2.0
/**
 * The chart where admission treats pods as OpenShift's restricted-v2 does: it sets a user, a group
 * and an SELinux label of the namespace's range, and admits no others.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { ONE, SYSTEM, startStand, type Stand } from './stand.ts';

const WAIT_MS = 120_000;
const USER = 1_000_650_000;
const LEVEL = 's0:c26,c5';
const NAME = 'restricted-v2';
const API = 'admissionregistration.k8s.io/v1';
const PODS = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
  ],
};
const HERE = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': SYSTEM } } };
const CONTEXT = 'object.spec.?securityContext';

const POLICIES = [
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
    spec: { policyName: NAME, matchResources: HERE },
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
    spec: { policyName: NAME, validationActions: ['Deny'], matchResources: HERE },
  },
];

/** A pod that restricted-v2 refuses. */
const FOREIGN = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'foreign', namespace: SYSTEM },
  spec: { securityContext: { runAsUser: 65_532 }, containers: [{ name: 'a', image: 'a' }] },
};

let stand: Stand;
before(async () => {
  stand = await startStand({ realPods: false });
  for (const namespace of [SYSTEM, 'countersign-keys'])
    await stand.cluster.kubectl(['create', 'namespace', namespace]);
  for (const policy of POLICIES) await apply(stand.cluster, policy);
  await until('the policies hold', WAIT_MS, async () => {
    const args = ['create', '--dry-run=server', '-f', '-'];
    const { stderr } = await stand.cluster.kubectl(args, {
      allowFailure: true,
      input: JSON.stringify(FOREIGN),
    });
    return stderr.includes('outside the range');
  });
});
after(() => stand.close());

test('every pod of the chart is admitted, with the ids that admission sets', async () => {
  await stand.install({ ...ONE, namespace: SYSTEM, namespaces: { create: false } });
  const deployments = await stand.all('deployments');
  const wanted = deployments.reduce((sum, each) => sum + specOf(each).replicas, 0);
  assert.ok(wanted >= 12);
  const pods = await until('every pod is admitted', WAIT_MS, async () => {
    const found = await stand.all('pods');
    return found.length >= wanted && found;
  });
  for (const pod of pods) {
    const { runAsNonRoot, runAsUser, fsGroup, seLinuxOptions } = specOf(pod).securityContext;
    assert.deepEqual(
      { runAsNonRoot, runAsUser, fsGroup, seLinuxOptions },
      { runAsNonRoot: true, runAsUser: USER, fsGroup: USER, seLinuxOptions: { level: LEVEL } },
    );
  }
});

interface Spec {
  readonly replicas: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
}

function specOf(object: object): Spec {
  return (object as { readonly spec: Spec }).spec;
}
