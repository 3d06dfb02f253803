// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import type { Component } from '#component/contract.ts';
import { createClusterSigners } from '#component/signers/cluster-signers.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import { until } from '../../cluster/until.ts';
import { changed, clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';
import type { Call } from '../../support/kube/scripted-server.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';

const SIGNER_NAME = 'example.com/workload';
const NAMESPACE = 'authority.managed.secret.namespace';

let stage: Stage;
let signers: Signers;
let told: string[];
/** Signer names whose gauges were ended. */
let ended: string[];
let call: Call;
let log: ReturnType<typeof recordedLog>;
let stop: AbortController;

beforeEach(async () => {
  stage = await startStage();
  told = [];
  ended = [];
  stop = new AbortController();
  log = recordedLog();
  const component = {
    ...stage.time,
    client: stage.client,
    random: (size: number) => new Uint8Array(size),
    log,
    metrics: {
      watchRestart: () => undefined,
      watchEvent: () => undefined,
      watchStopped: () => undefined,
      unserved: (signerName: string) => ended.push(signerName),
    },
    secretNamespace: 'countersign-keys',
  } as unknown as Component;
  signers = createClusterSigners(component);
  signers.onChange((_signerNames, names) => told.push(...names));
  void signers.run(stop.signal);
  call = await stage.server.next();
});
afterEach(async () => {
  stop.abort();
  await stage.stop();
});

let version = 0;

/** A ClusterSigner made in this minute of an hour. */
function signer(name: string, minute: number, spec: unknown = workloadSpec()): KubeObject {
  const object = clusterSigner(spec);
  version += 1;
  const creationTimestamp = `2026-11-21T06:${String(minute).padStart(2, '0')}:00Z`;
  const own = { name, uid: name, resourceVersion: String(version), creationTimestamp };
  return { ...object, metadata: { ...object.metadata, ...own } };
}

/** As it was when it was deleted: of a version of its own. */
function lastOf(object: KubeObject): KubeObject {
  version += 1;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

function hear(...objects: readonly KubeObject[]): void {
  call.lines(...objects.map((object) => ({ type: 'ADDED', object })));
}

async function whole(): Promise<void> {
  version += 1;
  call.lines(bookmark(version, true));
  await until('standings are told', PATIENCE_MS, () => signers.settled && told.length > 0);
}

test('an empty list calls the listeners once, after it settled', async () => {
  const calls: unknown[] = [];
  signers.onChange((signerNames, names) => calls.push([signers.settled, signerNames, names]));
  version += 1;
  call.lines(bookmark(version, true));
  await until('the list is complete', PATIENCE_MS, () => calls.length > 0);
  assert.deepEqual(calls, [[true, [], []]]);
});

test('no ClusterSigner serves before all are listed: an older one may follow', async () => {
  hear(signer('younger', 9));
  await until('it is heard of', PATIENCE_MS, () => signers.get('younger') !== undefined);
  assert.equal(signers.serving(SIGNER_NAME), undefined);
  assert.deepEqual([signers.all(), told], [[], []]);
  hear(signer('elder', 1));
  await whole();
  assert.equal(signers.serving(SIGNER_NAME)?.metadata.name, 'elder');
  assert.equal(signers.elderOf('younger'), 'elder');
  assert.deepEqual(new Set(told), new Set(['younger', 'elder']));
});

test('an older ClusterSigner of another installation keeps a younger one from serving', async () => {
  hear(signer('ours', 9), signer('theirs', 1, changed(workloadSpec(), NAMESPACE, 'other-keys')));
  await whole();
  assert.deepEqual(signers.all(), []);
  assert.equal(signers.elderOf('ours'), 'theirs');
  assert.equal(signers.get('theirs'), undefined);
});

test('an older ClusterSigner with an invalid spec keeps its signer name', async () => {
  hear(signer('younger', 9), signer('elder', 1, { ...workloadSpec(), later: 'field' }));
  await whole();
  assert.equal(signers.serving(SIGNER_NAME), undefined);
  assert.equal(signers.elderOf('younger'), 'elder');
  assert.ok(signers.faulty('elder'));
});

test('an invalid ClusterSigner of another installation is not reported', async () => {
  const spec = { ...changed(workloadSpec(), NAMESPACE, 'other-keys'), later: 'field' };
  hear(signer('theirs', 1, spec));
  await whole();
  assert.equal(signers.faulty('theirs'), undefined);
  assert.deepEqual(log.lines, []);
});

test('when the older ClusterSigner is deleted, the younger serves', async () => {
  hear(signer('younger', 9), signer('elder', 1));
  await whole();
  call.lines({ type: 'DELETED', object: signer('elder', 1) });
  await until('the elder is gone', PATIENCE_MS, () => signers.get('elder') === undefined);
  assert.equal(signers.serving(SIGNER_NAME)?.metadata.name, 'younger');
  assert.equal(signers.elderOf('younger'), undefined);
});

test('removes a signer name’s metrics unless another ClusterSigner takes it over', async () => {
  const [elder, younger] = [signer('elder', 1), signer('younger', 9)];
  hear(elder, younger);
  await whole();
  const remove = async (object: KubeObject): Promise<void> => {
    told.length = 0;
    call.lines({ type: 'DELETED', object: lastOf(object) });
    await until('its end is told', PATIENCE_MS, () => told.length > 0);
  };
  await remove(elder);
  assert.deepEqual(ended, []);
  await remove(younger);
  assert.deepEqual(ended, [SIGNER_NAME]);
});
