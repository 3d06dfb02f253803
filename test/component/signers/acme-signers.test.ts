// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import { watchAcmeSigners, type AcmeSigners } from '#component/signers/acme-signers.ts';
import { acmeObject } from '../../api/acme/build.ts';
import { until } from '../../cluster/until.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import type { Call } from '../../support/kube/scripted-server.ts';
import { clusterSigner } from '../../support/signers/cluster-signer.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';

const NAME = 'example.com/public';

let stage: Stage;
let signers: AcmeSigners;
let stop: AbortController;
let running: Promise<void>;
let rivals: readonly KubeObject[];

beforeEach(async () => {
  stage = await startStage();
  rivals = [];
  const added = (objects: readonly KubeObject[]): readonly object[] =>
    objects.map((object) => ({ type: 'ADDED', object }));
  stage.server.always((call: Call) => {
    if (call.query.get('watch') !== 'true') call.answer(404, { kind: 'Status', code: 404 });
    else if (call.path.endsWith('/clustersigners')) call.lines(...added(rivals), bookmark(9, true));
    else call.lines(...added([acmeObject({}, NAME)]), bookmark(9, true));
  });
  const { clock, delay } = stage.time;
  signers = watchAcmeSigners(recordedComponent({ client: stage.client, clock, delay }));
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await running;
  await stage.stop();
});

async function settled(): Promise<void> {
  running = signers.run(stop.signal);
  await until('all is listed', PATIENCE_MS, () => signers.settled);
}

test('its own status keeps a signer valid, without storing what the spec was read into', async () => {
  await settled();
  const signer = signers.serving(NAME);
  assert.ok(signer !== undefined);
  const metadata = { ...signer.metadata, resourceVersion: '10' };
  signers.applyWrite({
    ...signer,
    metadata,
    status: { termsOfService: 'https://ca/terms' },
  } as KubeObject);
  assert.equal(signers.faulty('web'), undefined);
  assert.equal(signers.serving(NAME)?.status.termsOfService, 'https://ca/terms');
  assert.equal(signers.serving(NAME)?.metadata.resourceVersion, '10');
});

test('a ClusterSigner has its name before an AcmeClusterSigner, whichever is older', async () => {
  const rival = clusterSigner({ signerName: NAME });
  rivals = [
    { ...rival, metadata: { ...rival.metadata, creationTimestamp: '2026-12-01T00:00:00Z' } },
  ];
  await settled();
  assert.equal(signers.serving(NAME), undefined);
  assert.match(signers.rivalOf('web') ?? '', /^ClusterSigner /);
});
