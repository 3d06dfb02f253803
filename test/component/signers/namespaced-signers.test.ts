// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { KubeObject, ObjectMeta } from '#api/object/object.ts';
import { watchSigners } from '#component/signers/signers.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import { until } from '../../cluster/until.ts';
import { changed, clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { namespacedSigner, teamSpec } from '../../support/signers/namespaced-signer.ts';
import type { RecordedComponent } from '../../support/component/recorded-component.ts';
import type { Call } from '../../support/kube/scripted-server.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';
import { componentOn } from '../../requests/loop/controlled.ts';

/** As in src/component/signers/signer-quota.ts. */
const MAX_SIGNERS_PER_NAMESPACE = 32;

const DERIVED = 'signers.countersign.dev/team-a.web';
const LISTS = {
  cluster: '/apis/countersign.dev/v1alpha1/clustersigners',
  namespaced: '/apis/countersign.dev/v1alpha1/signers',
};

let stage: Stage;
let component: RecordedComponent;
let signers: Signers;
let told: (readonly [readonly string[], readonly string[]])[];
let stop: AbortController;
let calls: Map<string, Call>;

async function begin(namespacedSigners = true): Promise<void> {
  component = componentOn(stage, { namespacedSigners });
  signers = watchSigners(component);
  signers.onChange((names, keys) => told.push([keys, names]));
  void signers.run(stop.signal);
  calls = new Map();
  for (let call = 0; call < (namespacedSigners ? 2 : 1); call += 1) {
    const made = await stage.server.next();
    calls.set(made.path, made);
  }
}

beforeEach(async () => {
  stage = await startStage();
  told = [];
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await stage.stop();
});

let version = 10;
const newer = (object: KubeObject, more: Partial<ObjectMeta> = {}): KubeObject => {
  version += 1;
  return {
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(version), ...more },
  };
};
function hear(path: string, type: string, object: KubeObject): void {
  calls.get(path)?.lines({ type, object: newer(object) });
}
const toldOf = (key: string): Promise<unknown> =>
  until(`${key} is told`, PATIENCE_MS, () => told.some(([keys]) => keys.includes(key)));

test('without the opt-in Signers are not watched', async () => {
  await begin(false);
  assert.deepEqual([...calls.keys()], [LISTS.cluster]);
  assert.equal(signers.serving(DERIVED), undefined);
});

test('a Signer serves its derived name as soon as it is received', async () => {
  await begin();
  hear(LISTS.namespaced, 'ADDED', namespacedSigner());
  await toldOf('team-a/web');
  assert.deepEqual(told, [[['team-a/web'], [DERIVED]]]);
  assert.equal(signers.serving(DERIVED)?.metadata.namespace, 'team-a');
  assert.deepEqual([signers.settled, signers.failure], [false, undefined], 'as ClusterSigners are');
});

test('a ClusterSigner with a derived name serves nothing, and blocks no Signer', async () => {
  await begin();
  const claim = clusterSigner(changed(workloadSpec(), 'signerName', DERIVED));
  hear(LISTS.cluster, 'ADDED', claim);
  version += 1;
  calls.get(LISTS.cluster)?.lines(bookmark(version, true));
  await until('it is settled', PATIENCE_MS, () => signers.settled);
  assert.equal(signers.serving(DERIVED), undefined);
  assert.match(
    signers.faulty('workload')?.error.message ?? '',
    /reserved for the derived names of Signers/,
  );
  hear(LISTS.namespaced, 'ADDED', namespacedSigner());
  await toldOf('team-a/web');
  assert.equal(signers.serving(DERIVED)?.kind, 'Signer');
  assert.deepEqual(
    signers.all().map(({ kind }) => kind),
    ['Signer'],
  );
});

test('Signers whose names contain dots have distinct derived names', async () => {
  await begin();
  hear(LISTS.namespaced, 'ADDED', namespacedSigner(teamSpec(), { name: 'b.web', uid: 'one' }));
  hear(
    LISTS.namespaced,
    'ADDED',
    namespacedSigner(teamSpec(), { namespace: 'team-a-b', name: 'web', uid: 'two' }),
  );
  await toldOf('team-a-b/web');
  const uidOf = (name: string): string | undefined =>
    signers.serving(`signers.countersign.dev/${name}`)?.metadata.uid;
  assert.deepEqual(
    [uidOf('team-a.b.web'), uidOf('team-a-b.web'), uidOf('team-a.b')],
    ['one', 'two', undefined],
  );
});

test('does not serve a Signer with an invalid spec, and keeps its error for the status', async () => {
  await begin();
  hear(LISTS.namespaced, 'ADDED', namespacedSigner({ ...teamSpec(), later: 'field' }));
  await toldOf('team-a/web');
  assert.equal(signers.serving(DERIVED), undefined);
  assert.equal(signers.faulty('team-a/web')?.object.kind, 'Signer');
  assert.deepEqual(signers.keys(), ['team-a/web']);
});

test('a deleted Signer is no longer served, and its metrics are removed', async () => {
  await begin();
  hear(LISTS.namespaced, 'ADDED', namespacedSigner());
  await toldOf('team-a/web');
  told.length = 0;
  hear(LISTS.namespaced, 'DELETED', namespacedSigner());
  await toldOf('team-a/web');
  assert.equal(signers.serving(DERIVED), undefined);
  assert.deepEqual(
    component.counted.filter(([name]) => name === 'unserved'),
    [['unserved', DERIVED]],
  );
});

test('if listing Signers fails, serves ClusterSigners, and a warning gives the reason', async () => {
  await begin();
  calls.get(LISTS.namespaced)?.answer(404, { kind: 'Status', reason: 'NotFound', code: 404 });
  await until('it is told', PATIENCE_MS, () => signers.warnings().length === 1);
  hear(LISTS.cluster, 'ADDED', clusterSigner(workloadSpec()));
  version += 1;
  calls.get(LISTS.cluster)?.lines(bookmark(version, true));
  await until('it is settled', PATIENCE_MS, () => signers.settled);
  assert.equal(signers.failure, undefined);
  assert.equal(signers.all().length, 1);
});

const nameOf = (index: number): string => `web-${String(index).padStart(2, '0')}`;

async function crowd(): Promise<void> {
  for (let index = 0; index <= MAX_SIGNERS_PER_NAMESPACE; index += 1) {
    const name = nameOf(index);
    hear(LISTS.namespaced, 'ADDED', namespacedSigner(teamSpec(), { name, uid: name }));
  }
  await toldOf(`team-a/${nameOf(MAX_SIGNERS_PER_NAMESPACE)}`);
}

test('each namespace has a maximum of served Signers; beyond it no spec is kept', async () => {
  await begin();
  await crowd();
  assert.equal(signers.all().length, MAX_SIGNERS_PER_NAMESPACE);
  const { object, error } = signers.faulty(`team-a/${nameOf(MAX_SIGNERS_PER_NAMESPACE)}`) ?? {};
  assert.match(error?.message ?? '', /the namespace already has 32 Signers/);
  assert.equal(JSON.stringify(object).includes('spec'), false);
  hear(LISTS.namespaced, 'ADDED', namespacedSigner(teamSpec(), { namespace: 'team-b' }));
  await toldOf('team-b/web');
  assert.notEqual(signers.serving('signers.countersign.dev/team-b.web'), undefined);
});

test('a Signer beyond the maximum is served once there is room and it is written again', async () => {
  await begin();
  await crowd();
  const [first, last] = [nameOf(0), nameOf(MAX_SIGNERS_PER_NAMESPACE)];
  hear(LISTS.namespaced, 'DELETED', namespacedSigner(teamSpec(), { name: first, uid: first }));
  hear(LISTS.namespaced, 'MODIFIED', namespacedSigner(teamSpec(), { name: last, uid: last }));
  const derived = `signers.countersign.dev/team-a.${last}`;
  await until('it is served', PATIENCE_MS, () => signers.serving(derived) !== undefined);
  assert.equal(signers.all().length, MAX_SIGNERS_PER_NAMESPACE);
});

/**
 * The status of a Signer whose CA was exchanged so many times, as versions before this one wrote
 * it.
 */
function statusOf(authorities: number, message = ''): object {
  const times = { notBefore: '2026-11-21T09:00:00Z', notAfter: '2027-11-21T09:00:00Z' };
  const entry = (index: number): object => ({
    fingerprint: `sha256:${index.toString(16).padStart(64, '0')}`,
    phase: 'Retiring',
    ...times,
    longestLeaf: '24h',
    anchors: 'x'.repeat(48_000),
  });
  const ready = { type: 'Ready', status: 'True', reason: 'Checked', message };
  return {
    conditions: [ready],
    authorities: Array.from({ length: authorities }, (_, i) => entry(i)),
  };
}

const withStatus = (
  object: KubeObject,
  status: object,
): KubeObject & { readonly status: object } => ({
  ...object,
  status,
});

test('keeps the time of its deletion, by which its requests end', async () => {
  await begin();
  const deletionTimestamp = '2026-11-21T07:00:00Z';
  const whole = namespacedSigner(teamSpec());
  const object = { ...whole, metadata: { ...whole.metadata, deletionTimestamp } };
  hear(LISTS.namespaced, 'ADDED', object);
  await toldOf('team-a/web');
  assert.equal(signers.serving(DERIVED)?.metadata.deletionTimestamp, deletionTimestamp);
});

test('of a status the anchors are not kept in memory, and the CAs are', async () => {
  await begin();
  hear(LISTS.namespaced, 'ADDED', withStatus(namespacedSigner(teamSpec()), statusOf(31)));
  await toldOf('team-a/web');
  const known = signers.get('team-a/web');
  assert.equal(known?.status?.authorities?.length, 31);
  assert.ok(JSON.stringify(known).length < 30_000);
});

test('of a status that is far too long all the same only the CAs are kept', async () => {
  await begin();
  const status = statusOf(2, 'm'.repeat(200_000));
  hear(LISTS.namespaced, 'ADDED', withStatus(namespacedSigner(teamSpec()), status));
  await toldOf('team-a/web');
  const known = signers.get('team-a/web');
  assert.equal(known?.status?.conditions, undefined);
  assert.equal(known?.status?.authorities?.length, 2);
});

test('keeps the status of a Signer with an oversized spec, so that no CA is lost', async () => {
  await begin();
  const requests = {
    copy: [],
    rules: [{ name: 'r', when: `'${'x'.repeat(70_000)}' == ''`, allow: {} }],
  };
  const long = namespacedSigner({ ...teamSpec(), requests });
  hear(LISTS.namespaced, 'ADDED', withStatus(long, statusOf(2)));
  await toldOf('team-a/web');
  const { object, error } = signers.faulty('team-a/web') ?? {};
  assert.match(error?.message ?? '', /more than 65536 characters as JSON; use fewer/);
  assert.equal((object as Partial<ClusterSigner> | undefined)?.status?.authorities?.length, 2);
});

test('drops an oversized spec and all other fields of its object from memory', async () => {
  await begin();
  const rule = (index: number): object => ({
    name: `rule-${index}`,
    when: `'${'x'.repeat(2_040)}' == ''`.slice(0, 2_048),
    allow: {},
  });
  const rules = Array.from({ length: 32 }, (_value, index) => rule(index));
  const long = { ...teamSpec(), requests: { copy: [], rules } };
  const annotations = { note: 'y'.repeat(100_000) };
  hear(LISTS.namespaced, 'ADDED', namespacedSigner(long, { annotations }));
  await toldOf('team-a/web');
  const { object, error } = signers.faulty('team-a/web') ?? {};
  assert.match(error?.message ?? '', /more than 65536 characters/);
  assert.ok(JSON.stringify(object).length < 1_000);
});
