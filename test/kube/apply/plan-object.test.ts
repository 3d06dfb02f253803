// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correction, planObject } from '#kube/apply/objects/plan-object.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { marked } from '#kube/apply/objects/mark.ts';
import { rolloutOf } from '#kube/apply/objects/rollout.ts';

const OWNER = {
  apiVersion: 'operator.countersign.dev/v1alpha1',
  kind: 'Countersign',
  name: 'cluster',
  uid: 'u-1',
  label: 'countersign',
};
const SERVER = { uid: 'o-1', resourceVersion: '7', generation: 1 };

const container = { name: 'signer', image: 'countersign:0.1.0', args: ['signer'] };
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x', namespace: 'y', labels: { a: 'b' } },
  spec: {
    replicas: 2,
    template: { spec: { serviceAccountName: 'x', containers: [container] } },
  },
};
const ROLE: ManagedObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'x' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
};
const BINDING: ManagedObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'x' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' },
  subjects: [{ kind: 'ServiceAccount', name: 'x', namespace: 'y' }],
};

/** As the API server stores it: with its own metadata. */
function stored(object: ManagedObject): ManagedObject {
  const { metadata, ...rest } = structuredClone(marked(object, OWNER));
  return { ...rest, metadata: { ...metadata, ...SERVER } };
}

function withPodSpec(more: object): ManagedObject {
  const live = stored(DEPLOYMENT);
  const { spec } = structuredClone(DEPLOYMENT);
  return {
    ...live,
    spec: { ...spec, template: { spec: { ...spec.template.spec, ...more } } },
  };
}

const decided = (object: ManagedObject, live: ManagedObject | undefined): string =>
  planObject(marked(object, OWNER), live).action;

test('what is not there is made, and what is as desired is left', () => {
  assert.equal(decided(DEPLOYMENT, undefined), 'create');
  assert.equal(decided(DEPLOYMENT, stored(DEPLOYMENT)), 'none');
});

test('a field that is no longer desired is applied again, by the digest', () => {
  const before = stored({ ...DEPLOYMENT, spec: { ...DEPLOYMENT.spec, minReadySeconds: 7 } });
  const { action, paths } = planObject(marked(DEPLOYMENT, OWNER), before);
  assert.equal(action, 'apply');
  assert.deepEqual(paths, ['/metadata/annotations/operator.countersign.dev~1applied']);
});

test('nothing of others stays in what a Deployment runs, except what a restart writes', () => {
  for (const more of [
    { containers: [container, { name: 'evil', image: 'x' }] },
    { containers: [{ ...container, command: ['sh'] }] },
    { containers: [{ ...container, env: [{ name: 'NODE_OPTIONS', value: '-r x' }] }] },
    { initContainers: [{ name: 'evil', image: 'x' }] },
    { volumes: [{ name: 'evil', emptyDir: {} }] },
    { hostNetwork: true },
    { securityContext: { runAsUser: 1 } },
    { tolerations: [{ operator: 'Exists' }] },
    { nodeSelector: { a: 'b' } },
    { hostAliases: [{ ip: '127.0.0.1' }] },
  ])
    assert.equal(decided(DEPLOYMENT, withPodSpec(more)), 'correct', JSON.stringify(more));
  const filledIn = { serviceAccount: 'x', restartPolicy: 'Always' };
  assert.equal(decided(DEPLOYMENT, withPodSpec(filledIn)), 'none');
  const paused = { ...stored(DEPLOYMENT), spec: { ...DEPLOYMENT.spec, paused: true } };
  assert.equal(decided(DEPLOYMENT, paused), 'correct');
  const restarted = structuredClone(stored(DEPLOYMENT)) as typeof DEPLOYMENT;
  const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-11-23T20:00:00Z' };
  Object.assign(restarted.spec.template, { metadata: { annotations } });
  assert.equal(decided(DEPLOYMENT, restarted), 'none');
});

test('ids that the admission of a cluster sets stay, and no other confinement changes', () => {
  const pod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  const confined = { allowPrivilegeEscalation: false };
  const of = (podContext: object, context: object): ManagedObject => ({
    ...DEPLOYMENT,
    spec: {
      ...DEPLOYMENT.spec,
      template: {
        spec: {
          ...DEPLOYMENT.spec.template.spec,
          securityContext: { ...pod, ...podContext },
          containers: [{ ...container, securityContext: { ...confined, ...context } }],
        },
      },
    },
  });
  const onePlan = (podContext: object, context: object): string =>
    decided(of({}, {}), { ...stored(of({}, {})), ...specOf(of(podContext, context)) });
  const specOf = (object: ManagedObject): object => ({ spec: object['spec'] });
  const label = { seLinuxOptions: { level: 's0:c26,c5' } };
  const ids = { runAsUser: 1_000_650_000, ...label };
  assert.equal(onePlan({ ...ids, fsGroup: 1_000_650_000, supplementalGroups: [5] }, ids), 'none');
  for (const podContext of [{ runAsNonRoot: false }, { sysctls: [{ name: 'a', value: 'b' }] }])
    assert.notEqual(onePlan(podContext, {}), 'none', JSON.stringify(podContext));
  for (const context of [
    { allowPrivilegeEscalation: true },
    { privileged: true },
    { runAsNonRoot: false },
    { capabilities: { add: ['SYS_ADMIN'] } },
  ])
    assert.notEqual(onePlan({}, context), 'none', JSON.stringify(context));
  const desired = of({ runAsUser: 7 }, {});
  const other = { ...stored(desired), ...specOf(of({ runAsUser: 8 }, {})) };
  assert.notEqual(decided(desired, other), 'none', 'a value of the spec wins');
});

test('rules, an aggregation and subjects of others are taken away', () => {
  const live = stored(ROLE);
  const aggregated = { ...live, aggregationRule: { clusterRoleSelectors: [{ matchLabels: {} }] } };
  // Only a cluster-admin may take the rule away.
  assert.equal(decided(ROLE, aggregated), 'recreate');
  const wider = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] }];
  assert.equal(decided(ROLE, { ...live, rules: wider }), 'correct');
  const other = [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }];
  assert.equal(decided(ROLE, { ...live, rules: other }), 'apply');
  const bound = stored(BINDING);
  const more = [...(bound['subjects'] as object[]), { kind: 'User', name: 'eve' }];
  assert.equal(decided(BINDING, { ...bound, subjects: more }), 'correct');
});

test('a correction holds for one resourceVersion and keeps what others fill in', () => {
  const live = withPodSpec({
    containers: [container, { name: 'evil', image: 'x' }],
    hostPID: true,
    nodeSelector: { a: 'b' },
  });
  assert.deepEqual(correction(marked(DEPLOYMENT, OWNER), live), [
    { op: 'test', path: '/metadata/uid', value: 'o-1' },
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/spec', value: DEPLOYMENT.spec },
  ]);
});

test('which CAs are distrusted, and a caBundle, survive a correction', () => {
  const signer = {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name: 'serving' },
    spec: { signerName: 'a.b/c', authority: { managed: { commonName: 'x' } } },
  };
  const managed = { commonName: 'x', distrusted: ['sha256:00'] };
  const widened = { ...signer.spec, authority: { managed }, requests: { rules: [] } };
  const live = { ...stored(signer), spec: { ...widened, pods: { allow: 'true' } } };
  const [, , patch] = correction(marked(signer, OWNER), live);
  assert.deepEqual(patch, {
    op: 'add',
    path: '/spec',
    value: { signerName: 'a.b/c', authority: { managed } },
  });
  assert.equal(
    decided(signer, { ...live, spec: { ...signer.spec, authority: { managed } } }),
    'none',
  );
  const webhook = { name: 'a.b.c', clientConfig: { service: { name: 'x', namespace: 'y' } } };
  const webhooks = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'x' },
    webhooks: [webhook],
  };
  const filled = { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle: 'eA==' } };
  const evil = { name: 'evil.b.c', clientConfig: { url: 'https://evil.example' } };
  const [, , repaired] = correction(marked(webhooks, OWNER), {
    ...stored(webhooks),
    webhooks: [evil, filled],
  });
  assert.deepEqual(repaired, { op: 'add', path: '/webhooks', value: [filled] });
});

test('what the API server puts back itself is not corrected again', () => {
  const live = withPodSpec({ containers: [{ ...container, fromTheFuture: 'x' }] });
  const path = '/spec/template/spec/containers/signer/fromTheFuture';
  assert.deepEqual(planObject(marked(DEPLOYMENT, OWNER), live).paths, [path]);
  assert.equal(planObject(marked(DEPLOYMENT, OWNER), live, new Set([path])).action, 'none');
});

test('another roleRef is reported and not forced, lest its subjects get another role', () => {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' };
  const live = { ...stored(BINDING), roleRef };
  for (const subjects of [BINDING.subjects, []]) {
    const verdict = planObject(marked(BINDING, OWNER), { ...live, subjects });
    assert.equal(verdict.action, 'none');
    assert.match(verdict.problem ?? '', /binds ClusterRole admin, not ClusterRole x/);
    assert.match(verdict.problem ?? '', /delete the binding, and the operator creates it again/);
  }
});

test('namespaces, ServiceAccounts, Secrets and ConfigMaps are made and never changed', () => {
  for (const kind of ['Namespace', 'ServiceAccount', 'Secret', 'ConfigMap']) {
    const object = { apiVersion: 'v1', kind, metadata: { name: 'x', labels: { a: 'b' } } };
    assert.equal(decided(object, undefined), 'create');
    assert.equal(decided(object, { ...object, metadata: { name: 'x', ...SERVER } }), 'none');
  }
});

test('nothing that holds keys, or trust, has an owner; all else has', () => {
  const owned = (apiVersion: string, kind: string): boolean =>
    marked({ apiVersion, kind, metadata: { name: 'x' } }, OWNER).metadata.ownerReferences !==
    undefined;
  for (const kind of ['Namespace', 'Secret', 'ConfigMap']) assert.ok(!owned('v1', kind), kind);
  assert.ok(!owned('apiextensions.k8s.io/v1', 'CustomResourceDefinition'));
  assert.ok(!owned('countersign.dev/v1alpha1', 'ClusterSigner'));
  assert.ok(owned('apps/v1', 'Deployment'));
  assert.ok(owned('v1', 'ServiceAccount'));
});

test('an object that another controller owns is left to it, and named', () => {
  const live = stored(DEPLOYMENT);
  const ownerReferences = [
    { apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'u-2', controller: true },
  ];
  const taken = { ...live, metadata: { ...live.metadata, ownerReferences } };
  const verdict = planObject(marked(DEPLOYMENT, OWNER), taken);
  assert.equal(verdict.action, 'none');
  assert.match(verdict.problem ?? '', /is controlled by Other o/);
});

test('a rollout is done when its template is observed and all pods are available', () => {
  const status = {
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    availableReplicas: 2,
    conditions: [{ type: 'Available', status: 'True' }],
  };
  const of = (more: object): ReturnType<typeof rolloutOf> =>
    rolloutOf({ ...stored(DEPLOYMENT), status: { ...status, ...more } });
  assert.equal(of({})?.done, true);
  for (const more of [
    { observedGeneration: 0 },
    { updatedReplicas: 1 },
    { replicas: 3 },
    { availableReplicas: 1 },
  ]) {
    assert.equal(of(more)?.done, false, JSON.stringify(more));
    assert.equal(of(more)?.available, true);
  }
});

test('a Deployment whose pods are refused is stuck, and says why', () => {
  const said = 'pods "x-1" is forbidden: exceeded quota: none';
  const failure = (is: string): object => ({
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 1,
    availableReplicas: 2,
    conditions: [{ type: 'ReplicaFailure', status: is, reason: 'FailedCreate', message: said }],
  });
  const refused = rolloutOf({ ...stored(DEPLOYMENT), status: failure('True') });
  assert.equal(refused?.stuck, true);
  assert.match(refused.message, /1 of 2 pods are new: pods "x-1" is forbidden: exceeded quota/);
  assert.equal(rolloutOf({ ...stored(DEPLOYMENT), status: failure('False') })?.stuck, false);
});
