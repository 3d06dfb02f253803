// SPDX-License-Identifier: Apache-2.0
/** Namespaces that are being deleted. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { KubeError } from '#kube/client/kube-error.ts';
import { until } from '../../cluster/until.ts';
import { anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';
import { startWorld, type World } from './world.ts';

const NAME = 'example.com.workload.primary';
const signer = signerWith([anchor('A').pem]);

let world: World;
afterEach(async () => {
  await world.stop();
});

/** The response of the API server to a new object in a namespace that is being deleted. */
const TERMINATING = new KubeError({
  status: 403,
  what: 'PATCH',
  body: {
    reason: 'Forbidden',
    details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
  },
});

function started(error?: KubeError): void {
  world = startWorld({
    reject: ({ path }) => (path.includes('/ending/') ? error : undefined),
  });
  world.putSigner(signer);
  world.putBundle(served(planOf({ signer })));
}

const isCopied = (namespace: string): boolean => world.configMap(namespace, NAME) !== undefined;
const lagging = (): readonly unknown[] =>
  world.component.counted.filter(([name, , count]) => name === 'lagging' && count !== 0);

test('a copy that Kubernetes deletes with its namespace is not written again', async () => {
  started();
  world.putNamespace('ending');
  await until('it has a copy', 10_000, () => isCopied('ending'));
  world.putNamespace('ending', { deletionTimestamp: '2026-11-21T09:00:00Z' });
  world.api.remove(`/api/v1/namespaces/ending/configmaps/${NAME}`);
  world.putNamespace('staying');
  await until('the other has one', 10_000, () => isCopied('staying'));
  assert.equal(isCopied('ending'), false);
  assert.equal(world.requests.filter(({ path }) => path.includes('/ending/')).length, 1);
});

test('a rejection because the namespace is being deleted degrades no signer', async () => {
  started(TERMINATING);
  world.putNamespace('ending');
  world.putNamespace('staying');
  await until('the other has one', 10_000, () => isCopied('staying'));
  assert.deepEqual([lagging(), world.component.notes], [[], []]);
});

test('another rejection is a lagging target', async () => {
  started(new KubeError({ status: 403, what: 'PATCH', body: { reason: 'Forbidden' } }));
  world.putNamespace('ending');
  await until('it lags', 10_000, () => lagging().length > 0);
  assert.equal(world.component.notes.length > 0, true);
});
