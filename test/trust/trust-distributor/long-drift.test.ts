// SPDX-License-Identifier: Apache-2.0
/** Contents of other clients that exceed what the component keeps in memory. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { ConfigMap } from '#api/object/object.ts';
import { until } from '../../cluster/until.ts';
import { anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';
import { startWorld, type World } from './world.ts';

const [A, B] = [anchor('A'), anchor('B')];
const NAME = 'example.com.workload.primary';
const PATH = `/api/v1/namespaces/team-a/configmaps/${NAME}`;
/** Exceeds the value that is kept. */
const LONG = 40_000;
const FOREIGN = anchor('Foreign').pem.padEnd(LONG, '\n');

const signer = signerWith([A.pem, B.pem]);
const bundle = served(planOf({ signer }));
const TEXT = bundle.spec.trustBundle;

let world: World;
afterEach(async () => {
  await world.stop();
});

const copy = (): ConfigMap | undefined => world.configMap('team-a', NAME);

async function copied(): Promise<ConfigMap> {
  world = startWorld();
  world.putSigner(signer);
  world.putBundle(bundle);
  world.putNamespace('team-a');
  await until('it has a copy', 10_000, () => copy()?.data?.['ca.crt'] === TEXT);
  const made = copy();
  assert.ok(made);
  return made;
}

function change(before: ConfigMap, more: Partial<ConfigMap>): void {
  world.api.put(PATH, { ...before, ...more });
}

test('a long truststore of another client is removed', async () => {
  change(await copied(), { binaryData: { 'truststore.p12': 'A'.repeat(LONG) } });
  await until('it is removed', 10_000, () => Object.keys(copy()?.binaryData ?? {}).length === 0);
  assert.equal(copy()?.data?.['ca.crt'], TEXT);
});

test('long anchors of another client are replaced', async () => {
  change(await copied(), { data: { 'ca.crt': FOREIGN } });
  await until('they are replaced', 10_000, () => copy()?.data?.['ca.crt'] === TEXT);
});
