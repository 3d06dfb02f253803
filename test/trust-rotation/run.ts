// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-trust-rotation`: CAs replaced three times under load, with webhooks, APIServices, a
 * conversion webhook, 50 ConfigMaps and ten truststores among the targets, and one namespace
 * in which no ConfigMap can be written.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { caBundleTargetText } from '#api/object/ca-bundle-target.ts';
import { renderRbac } from '#install/render.ts';
import { until } from '../cluster/until.ts';
import { CA_BUNDLES, objectsWithCaBundles } from '../integration/trust/ca-bundles.ts';
import { CROWD, createCrowd } from '../integration/trust/rotation.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { BUNDLE } from '../support/cluster/countersign.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { ASKED } from './asked.ts';
import { rotateUnderLoad, type Scene } from './law.ts';

const WAIT_MS = 240_000;
const caBundles = [...CA_BUNDLES, ...ASKED];
const NAME = 'example.com.workload.primary';

let fixture: Fixture;
let distributor: ComponentProcess;
let scene: Scene;

before(async () => {
  const program = [process.execPath, BUNDLE];
  fixture = await startFixture({
    program,
    only: ['authority', 'attester', 'approver', 'signer'],
    args: ['--propagation', '20s'],
    argsOf: { authority: ['--target-deadline', '30s'] },
  });
  const { cluster } = fixture;
  const signerName = 'example.com/workload';
  scene = { cluster, signer: 'workload', signerName, configMap: NAME, caBundles };
  const installation = { ...DEMO, optionalComponents: ['trust-distributor'], caBundles } as const;
  await applyText(cluster, renderRbac(installation).get('trust-distributor.yaml') ?? '');
  await applyText(cluster, objectsWithCaBundles(signerName));
  await createCrowd(cluster, WAIT_MS);
  const kubeconfig = await componentKubeconfig(cluster, 'trust-distributor');
  const args = caBundles.map((each) => `--ca-bundle-of=${caBundleTargetText(each)}`);
  distributor = await startComponent({ name: 'trust-distributor', kubeconfig, program, args });
  await distributor.ready(WAIT_MS);
  await until('every healthy namespace has its copy', WAIT_MS, async () => {
    const named = ['-A', '--field-selector', `metadata.name=${NAME}`, '-o', 'name'];
    const { stdout } = await cluster.kubectl(['get', 'configmaps', ...named]);
    return stdout.trim().split('\n').length === CROWD.length;
  });
});

after(async () => {
  await distributor.stop();
  await fixture.stop();
});

test('three rotations under load: no verifier of a healthy target refuses a fresh leaf', async (t) => {
  const { faults, ...counts } = await rotateUnderLoad(scene, 3);
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(faults, []);
  assert.equal(counts.issuers, 4);
  assert.ok(counts.targets >= CROWD.length + CROWD.length / 5 + caBundles.length);
});

test('and where the targets are not written, it is refused: these verifiers can tell', async () => {
  await distributor.stop();
  const { faults } = await rotateUnderLoad(scene, 1);
  const refusedBy = (who: RegExp): boolean => faults.some((each) => who.test(each));
  for (const who of [/crowd-1\//, /truststore\.p12/, /apiservices/, /^webhook: /, /^APIService: /])
    assert.ok(refusedBy(who), `nobody refused: ${who}\n${faults.slice(0, 3).join('\n')}`);
});
