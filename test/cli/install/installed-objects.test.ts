// SPDX-License-Identifier: Apache-2.0
/** Objects of a tenant, who may write any label, annotation and manager into their own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInstalled, supersededObjects } from '#cli/commands/install/installed-objects.ts';
import { titleOf } from '#kube/apply/objects/managed-object.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';

const SYSTEM = 'countersign-system';
const LABELS = { 'app.kubernetes.io/name': 'countersign' };
const APPLIED = [{ manager: 'countersign-install', operation: 'Apply' }];
const RELEASE = {
  'meta.helm.sh/release-name': 'web',
  'meta.helm.sh/release-namespace': 'team-a',
};

const BINDING = {
  metadata: { name: 'countersign-acme', labels: LABELS, managedFields: APPLIED },
  subjects: [{ kind: 'ServiceAccount', name: 'countersign-acme', namespace: SYSTEM }],
};
const COMPONENT = {
  metadata: {
    name: 'countersign-acme',
    namespace: SYSTEM,
    labels: LABELS,
    managedFields: APPLIED,
  },
};
const SERVING = `Secret ${SYSTEM}/countersign-acme-serving`;
const OWN = [`Deployment ${SYSTEM}/countersign-acme`, 'ClusterRoleBinding countersign-acme'];

const secret = (name: string, namespace: string): object => ({
  metadata: { name, namespace, labels: LABELS, managedFields: APPLIED },
});
const SECRETS = [
  secret('countersign-acme-serving', SYSTEM),
  secret('workload-ca', 'countersign-keys'),
];

const KINDS: Readonly<Record<string, readonly object[]>> = {
  deployments: [COMPONENT],
  clusterrolebindings: [BINDING],
  secrets: SECRETS,
};

/** A cluster with `acme` of `countersign install`, and with these instead of its objects. */
function clusterOf(objects: typeof KINDS): RecordedClient {
  const client = recordedClient();
  client.answer(({ path }) => {
    const items = { ...KINDS, ...objects }[path.split('/').at(-1) ?? ''] ?? [];
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
  });
  return client;
}

/** A cluster with `acme` of `countersign install`, and with Deployments of a tenant. */
function clusterWith(...deployments: readonly object[]): RecordedClient {
  return clusterOf({ deployments: [COMPONENT, ...deployments] });
}

const FORGED = { name: 'web', namespace: 'team-a', labels: LABELS };
const STRANGERS: Readonly<Record<string, object>> = {
  'a release of Helm': { ...FORGED, annotations: RELEASE },
  'an owner, the operator': {
    ...FORGED,
    ownerReferences: [{ apiVersion: 'operator.countersign.dev/v1alpha1', kind: 'Countersign' }],
  },
};

for (const [what, metadata] of Object.entries(STRANGERS)) {
  test(`a tenant's Deployment with ${what} hides no component`, async () => {
    const client = clusterWith({ metadata });
    assert.deepEqual((await readInstalled(client)).objects.map(titleOf), OWN);
    const superseded = (await supersededObjects(client, [])).map(titleOf);
    assert.deepEqual(superseded.sort(), [...OWN, SERVING].sort());
  });
}

test("the Deployment of a component with a release of Helm is the release's", async () => {
  const metadata = { ...FORGED, namespace: SYSTEM, annotations: RELEASE };
  assert.deepEqual((await readInstalled(clusterWith({ metadata }))).objects, []);
});

test('components are in the namespaces that bindings of the cluster name', async () => {
  const client = clusterWith({ metadata: FORGED });
  assert.deepEqual([...(await readInstalled(client)).namespaces], [SYSTEM]);
});

/** Left by an uninstallation that was cut off after its bindings. */
const CUT_OFF = {
  clusterrolebindings: [],
  namespaces: [{ metadata: { name: SYSTEM, labels: LABELS } }, { metadata: { name: 'team-a' } }],
};

test('components are in the namespaces of an installation, once its bindings are gone', async () => {
  const client = clusterOf({ ...CUT_OFF, deployments: [COMPONENT, { metadata: FORGED }] });
  assert.deepEqual([...(await readInstalled(client)).namespaces], [SYSTEM]);
});

test('the Deployment of a release needs what is left, once the bindings are gone', async () => {
  const metadata = { ...FORGED, annotations: RELEASE };
  const titles = async (...deployments: readonly object[]): Promise<readonly string[]> => {
    const { objects } = await readInstalled(clusterOf({ ...CUT_OFF, deployments }));
    return objects.map(titleOf);
  };
  assert.deepEqual(await titles(COMPONENT, { metadata: { ...metadata, namespace: SYSTEM } }), []);
  assert.deepEqual(await titles(COMPONENT, { metadata }), OWN.slice(0, 1));
});

test('a Secret of another name is never deleted, whoever claims to have applied it', async () => {
  const superseded = await supersededObjects(clusterWith(), []);
  assert.deepEqual(superseded.filter(({ kind }) => kind === 'Secret').map(titleOf), [SERVING]);
});
