// SPDX-License-Identifier: Apache-2.0
/** Copies of a bundle that no ClusterSigner publishes any more. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { until } from '../../cluster/until.ts';
import { anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';
import { BUNDLES, startWorld, type World } from './world.ts';

const [A, B] = [anchor('A'), anchor('B')];
const OLD = 'example.com.workload.primary';
const NEW = 'example.com.workload.second';
const WEBHOOK = { resource: 'validatingwebhookconfigurations', name: 'hook' } as const;
const WEBHOOK_PATH = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hook';

const signer = signerWith([A.pem, B.pem]);
const bundle = served(planOf({ signer }));
const BOTH = bundle.spec.trustBundle;

let world: World;
afterEach(async () => {
  await world.stop();
});

function changed({
  name = 'second',
  distrusted = [],
}: {
  readonly name?: string | undefined;
  readonly distrusted?: readonly string[];
}): ClusterSigner {
  const managed = { ...signer.spec.authority.managed, distrusted };
  const authority = { ...signer.spec.authority, managed };
  const { trustBundle: _, ...spec } = signer.spec;
  const named = name === '' ? {} : { trustBundle: { name } };
  return { ...signer, spec: { ...spec, authority, ...named } } as ClusterSigner;
}

const textOf = (namespace: string, name = OLD): string | undefined =>
  world.configMap(namespace, name)?.data?.['ca.crt'];

async function copied(more: Parameters<typeof startWorld>[0] = {}): Promise<void> {
  world = startWorld(more);
  world.putSigner(signer);
  world.putBundle(bundle);
  for (const namespace of ['team-a', 'team-b']) world.putNamespace(namespace);
  await until('both have copies', 10_000, () => {
    return textOf('team-a') === BOTH && textOf('team-b') === BOTH;
  });
}

async function renamed(): Promise<void> {
  world.putSigner(changed({}));
  const next = served(planOf({ signer: changed({}), name: 'example.com:workload:second' }));
  world.putBundle(next);
  await until('the new name is copied', 10_000, () => textOf('team-a', NEW) !== undefined);
}

test('a CA that is distrusted after a new bundle name leaves the old copies', async () => {
  await copied();
  await renamed();
  assert.equal(textOf('team-a'), BOTH);
  world.putSigner(changed({ distrusted: [A.fingerprint] }));
  await until('it has left', 10_000, () => textOf('team-a') === B.pem);
  assert.equal(textOf('team-b'), B.pem);
});

test('copies of a retired bundle survive a restart, and lose what is distrusted then', async () => {
  await copied();
  await renamed();
  const { api } = world;
  await world.stop();
  world = startWorld({ api });
  world.putSigner(changed({ distrusted: [A.fingerprint] }));
  await until('it has left', 10_000, () => textOf('team-a') === B.pem);
  assert.deepEqual(world.notReady(), []);
});

test('a namespace that opts out loses the copy of a retired bundle', async () => {
  await copied();
  await renamed();
  world.api.remove('/api/v1/namespaces/team-b');
  await until('its copy is deleted', 10_000, () => textOf('team-b') === undefined);
  assert.equal(textOf('team-a'), BOTH);
});

test('copies of a deleted ClusterSigner are deleted with the bundle', async () => {
  await copied();
  world.api.remove('/apis/countersign.dev/v1alpha1/clustersigners/workload');
  world.putNamespace('team-c');
  world.api.remove('/api/v1/namespaces/team-b');
  await until('team-b has opted out', 10_000, () => textOf('team-b') === undefined);
  assert.equal(textOf('team-a'), BOTH);
  world.api.remove(BUNDLES.object({ name: 'example.com:workload:primary' }));
  await until('no copy is left', 10_000, () => textOf('team-a') === undefined);
  assert.equal(textOf('team-c'), undefined, 'a retired bundle gets no new copy');
});

test('a retired bundle whose name the role lacks is a warning, and stays ready', async () => {
  await copied();
  await world.stop();
  const { api } = world;
  const missing = { verb: 'list', resource: 'configmaps', name: OLD, namespace: undefined };
  world = startWorld({ api, more: { missingPermissions: () => Promise.resolve([missing]) } });
  world.putSigner(changed({}));
  await until('it warns', 10_000, () => world.warnings().length > 0);
  assert.match(world.warnings().join(''), /cannot list configmaps "example.com.workload.primary"/);
  await until('it is ready', 10_000, () => world.notReady().length === 0);
  world.api.remove(BUNDLES.object({ name: 'example.com:workload:primary' }));
  await until('the warning ends with the bundle', 10_000, () => world.warnings().length === 0);
});

test('a caBundle loses a distrusted CA of a signer that publishes no bundle any more', async () => {
  await copied({ caBundles: [WEBHOOK] });
  const annotations = { 'countersign.dev/signer-name': 'example.com/workload' };
  const metadata = { name: 'hook', uid: 'h', resourceVersion: '', creationTimestamp: '' };
  const object = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { ...metadata, annotations },
    webhooks: [{ clientConfig: { caBundle: '' } }],
  };
  const caBundle = (): string => {
    const found = world.api.get(WEBHOOK_PATH) as typeof object | undefined;
    return Buffer.from(found?.webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString();
  };
  world.api.put(WEBHOOK_PATH, object);
  await until('it is written', 10_000, () => caBundle() === BOTH);
  world.putSigner(changed({ name: '' }));
  world.putSigner(changed({ name: '', distrusted: [A.fingerprint] }));
  await until('it has left', 10_000, () => caBundle() === B.pem);
});
