// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { resource } from '#kube/resource/resource.ts';
import { createAuthoritySources, type AuthoritySources } from '#requests/ca/authority-sources.ts';
import { until } from '../../cluster/until.ts';
import { openIntermediate } from '../../support/ca/intermediate.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';
import { componentOn } from '../loop/controlled.ts';

const BUNDLES = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
});

/** A checked ClusterSigner that publishes nothing: its only watch is that of its Secret. */
function unpublished(): ClusterSigner {
  const conditions = [{ type: 'Ready', status: 'True' as const, reason: 'Checked' }];
  const signer = workload({}, { status: { observedGeneration: 1, conditions } });
  const { trustBundle: _, ...spec } = signer.spec;
  return { ...signer, spec };
}

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'workload-ca',
    namespace: 'countersign-keys',
    uid: 's-1',
    resourceVersion: '5',
    annotations: { 'countersign.dev/signer-name': 'example.com/workload' },
  },
};

let stage: Stage;
let sources: AuthoritySources;
let opened: number;

beforeEach(async () => {
  stage = await startStage();
  opened = 0;
  sources = createAuthoritySources(componentOn(stage), BUNDLES, () => {
    opened += 1;
    return openIntermediate();
  });
});
afterEach(async () => {
  await sources.stop();
  await stage.stop();
});

test('a CA is listed once its Secret and bundle were listed, even if neither exists', async () => {
  const signer = workload();
  assert.equal(sources.listed(signer), false);
  sources.serve([signer]);
  const watches = [await stage.server.next('a watch'), await stage.server.next('another watch')];
  const heard = (): number =>
    sources.notReady().filter((each) => each.includes('not listed')).length;
  watches[0]?.lines(bookmark(5, true));
  await until('one is whole', PATIENCE_MS, () => heard() === 1);
  assert.equal(sources.listed(signer), false);
  watches[1]?.lines(bookmark(5, true));
  await until('both are whole', PATIENCE_MS, () => sources.listed(signer));
});

test('an unreadable Secret does not keep its CA from being listed', async () => {
  const signer = unpublished();
  sources.serve([signer]);
  const watch = await stage.server.next('the watch of the Secret');
  watch.answer(403, { kind: 'Status', reason: 'Forbidden', message: 'no', code: 403 });
  await until('it is told', PATIENCE_MS, () => sources.listed(signer));
});

test('the opened CA of a signer is kept exactly while the signer is served', async () => {
  const signer = unpublished();
  let changes = 0;
  sources.onChange(() => (changes += 1));
  const served = async (): Promise<void> => {
    const before = changes;
    sources.serve([signer]);
    const watch = await stage.server.next('the watch of the Secret');
    watch.lines({ type: 'ADDED', object: secret }, bookmark(5, true));
    await until('the Secret is known', PATIENCE_MS, () => changes > before);
  };
  await served();
  sources.usable(signer);
  sources.serve([signer]);
  sources.usable(signer);
  assert.equal(opened, 1);
  sources.serve([]);
  await served();
  sources.usable(signer);
  assert.equal(opened, 2);
});

test('only a broken ClusterSigner that is the only one makes the component unready', async () => {
  // Not checked by the authority component: neither can sign.
  const [cluster, team] = [{ ...unpublished(), status: {} }, teamSigner()];
  sources.serve([team]);
  const ofTeam = await stage.server.next('the watch of the Signer’s Secret');
  assert.deepEqual(sources.notReady(), []);
  sources.serve([team, cluster]);
  const watch = await stage.server.next('the watch of the ClusterSigner’s Secret');
  ofTeam.lines(bookmark(5, true));
  watch.lines({ type: 'ADDED', object: secret }, bookmark(5, true));
  await until('both are listed', PATIENCE_MS, () =>
    [team, cluster].every((each) => sources.listed(each)),
  );
  assert.deepEqual(
    sources.notReady().map((each) => each.split(':')[0]),
    ['example.com/workload'],
  );
});

test('a ClusterSigner without its Secret leaves the component ready, even as only one', async () => {
  const signer = unpublished();
  sources.serve([signer]);
  const watch = await stage.server.next('the watch of the Secret');
  watch.lines(bookmark(5, true));
  await until('it is listed', PATIENCE_MS, () => sources.listed(signer));
  assert.throws(() => sources.usable(signer));
  assert.deepEqual(sources.notReady(), []);
});

test('a Signer signs with a Secret of its own namespace that grants its derived name', async () => {
  const conditions = [{ type: 'Ready', status: 'True' as const, reason: 'Checked' }];
  const signer = teamSigner({}, { observedGeneration: 1, conditions });
  const inTeam = (signerName: string, resourceVersion: string): object => ({
    ...secret,
    metadata: {
      ...secret.metadata,
      namespace: 'team-a',
      name: 'team-ca',
      resourceVersion,
      annotations: { 'countersign.dev/signer-name': signerName },
    },
  });
  sources.serve([signer]);
  const watch = await stage.server.next('the watch of the Secret');
  assert.equal(watch.path, '/api/v1/namespaces/team-a/secrets');
  const others = 'signers.countersign.dev/team-b.web';
  watch.lines({ type: 'ADDED', object: inTeam(others, '5') }, bookmark(5, true));
  await until('it is listed', PATIENCE_MS, () => sources.listed(signer));
  assert.throws(() => sources.usable(signer), /lacks the annotation .*team-a\.web/);
  assert.equal(opened, 0);
  let changes = 0;
  sources.onChange(() => (changes += 1));
  watch.lines({ type: 'MODIFIED', object: inTeam(signer.spec.signerName, '6') });
  await until('the consent is heard', PATIENCE_MS, () => changes > 0);
  sources.usable(signer);
  assert.equal(opened, 1);
});
