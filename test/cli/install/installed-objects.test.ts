// SPDX-License-Identifier: Apache-2.0
/** Objects of a tenant, who may write any label, annotation and manager into their own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  installedObjects,
  readComponentNamespaces,
  supersededObjects,
} from '#cli/commands/install/installed-objects.ts';
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

/** A cluster with `acme` of `countersign install`, and with Deployments of a tenant. */
function clusterWith(...deployments: readonly object[]): RecordedClient {
  const client = recordedClient();
  client.answer(({ path }) => {
    const items = path.endsWith('/deployments')
      ? [COMPONENT, ...deployments]
      : path.endsWith('/clusterrolebindings')
        ? [BINDING]
        : path.endsWith('/secrets')
          ? SECRETS
          : [];
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
  });
  return client;
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
    assert.deepEqual((await installedObjects(client)).map(titleOf), OWN);
    const superseded = (await supersededObjects(client, [])).map(titleOf);
    assert.deepEqual(superseded.sort(), [...OWN, SERVING].sort());
  });
}

test("the Deployment of a component with a release of Helm is the release's", async () => {
  const metadata = { ...FORGED, namespace: SYSTEM, annotations: RELEASE };
  assert.deepEqual(await installedObjects(clusterWith({ metadata })), []);
});

test('components are in the namespaces that bindings of the cluster name', async () => {
  const client = clusterWith({ metadata: FORGED });
  assert.deepEqual([...(await readComponentNamespaces(client))], [SYSTEM]);
});

test('a Secret of another name is never deleted, whoever claims to have applied it', async () => {
  const superseded = await supersededObjects(clusterWith(), []);
  assert.deepEqual(superseded.filter(({ kind }) => kind === 'Secret').map(titleOf), [SERVING]);
});
