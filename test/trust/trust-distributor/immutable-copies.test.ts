// SPDX-License-Identifier: Apache-2.0
/** Copies that a user of their namespace made immutable. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { ConfigMap } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { until } from '../../cluster/until.ts';
import { namespacedSigner, teamSpec } from '../../support/signers/namespaced-signer.ts';
import { anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';
import { startWorld, type World } from './world.ts';

const [A, B] = [anchor('A'), anchor('B')];
const NAME = 'example.com.workload.primary';
const OF_SIGNERS = 'signers.countersign.dev';
const signer = signerWith([A.pem, B.pem]);
const bundle = served(planOf({ signer }));

let world: World;
afterEach(async () => {
  await world.stop();
});

/**
 * The API server changes no data of an immutable ConfigMap (ValidateConfigMapUpdate in
 * pkg/apis/core/validation).
 */
function immutableField({ method, path }: RequestInit): KubeError | undefined {
  const before: ConfigMap | undefined = world.api.get(path);
  if (method !== 'PATCH' || before?.immutable !== true) return undefined;
  return new KubeError({ status: 422, what: path, body: { reason: 'Invalid' } });
}

function copyOf(name: string): ConfigMap | undefined {
  return world.configMap('team-a', name);
}

/** Makes the ConfigMap immutable, with these data. */
function freeze(name: string, data: ConfigMap['data'] = copyOf(name)?.data ?? {}): void {
  const before = copyOf(name);
  assert.ok(before);
  const frozen = { ...before, data, immutable: true };
  world.api.put(`/api/v1/namespaces/team-a/configmaps/${name}`, frozen);
}

function distrusting(fingerprint: string): ClusterSigner {
  const managed = { ...signer.spec.authority.managed, distrusted: [fingerprint] };
  const authority = { ...signer.spec.authority, managed };
  return { ...signer, spec: { ...signer.spec, authority } } as ClusterSigner;
}

async function copied(): Promise<void> {
  world = startWorld({ reject: immutableField });
  world.putSigner(signer);
  world.putBundle(bundle);
  world.putNamespace('team-a');
  await until('it has a copy', 10_000, () => copyOf(NAME) !== undefined);
}

test('a distrusted CA leaves a copy that a user made immutable', async () => {
  await copied();
  freeze(NAME);
  world.putSigner(distrusting(A.fingerprint));
  await until('it has left', 10_000, () => copyOf(NAME)?.data?.['ca.crt'] === B.pem);
  assert.equal(copyOf(NAME)?.immutable, undefined);
  assert.deepEqual(copyOf(NAME)?.metadata.annotations, {
    'countersign.dev/signer-name': 'example.com/workload',
  });
});

test('an immutable copy with other contents delays no rotation', async () => {
  await copied();
  freeze(NAME, { 'ca.crt': anchor('C').pem });
  await until('it is replaced', 10_000, () => {
    return copyOf(NAME)?.data?.['ca.crt'] === bundle.spec.trustBundle;
  });
  const lagging = world.component.counted.filter(([name, , count]) => {
    return name === 'lagging' && count !== 0;
  });
  assert.deepEqual(lagging, []);
});

test('the immutable ConfigMap of Signers is replaced, too', async () => {
  world = startWorld({ reject: immutableField, more: { namespacedSigners: true } });
  const authority = { fingerprint: 'sha256:0', phase: 'Active', longestLeaf: '1h', anchors: A.pem };
  const times = { notBefore: '2026-01-01T00:00:00Z', notAfter: '2027-01-01T00:00:00Z' };
  const web = namespacedSigner(teamSpec(), { name: 'web', uid: 'w', resourceVersion: '5' });
  const object = { ...web, status: { authorities: [{ ...authority, ...times }] } };
  world.api.put('/apis/countersign.dev/v1alpha1/namespaces/team-a/signers/web', object);
  await until('it is written', 10_000, () => copyOf(OF_SIGNERS)?.data?.['web.crt'] === A.pem);
  freeze(OF_SIGNERS, { 'web.crt': B.pem });
  await until('it is replaced', 10_000, () => copyOf(OF_SIGNERS)?.data?.['web.crt'] === A.pem);
  assert.equal(copyOf(OF_SIGNERS)?.immutable, undefined);
});
