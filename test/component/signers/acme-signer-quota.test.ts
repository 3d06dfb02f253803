// SPDX-License-Identifier: Apache-2.0
/**
 * AcmeSigners are bounded as Signers are: the users of one namespace must not exhaust what all
 * share.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import { watchAcmeSigners, type AcmeSigners } from '#component/signers/acme-signers.ts';
import { acmeObject } from '../../api/acme/build.ts';
import { until } from '../../cluster/until.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import type { Call } from '../../support/kube/scripted-server.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';

/** As in src/component/signers/signer-quota.ts. */
const MAX_SIGNERS_PER_NAMESPACE = 32;

let stage: Stage;
let signers: AcmeSigners;
let stop: AbortController;
let running: Promise<void>;
let watch: Call | undefined;

beforeEach(async () => {
  stage = await startStage();
  watch = undefined;
  stop = new AbortController();
  const { clock, delay } = stage.time;
  const { client } = stage;
  const component = recordedComponent({ client, clock, delay, namespacedSigners: true });
  signers = watchAcmeSigners(component);
});
afterEach(async () => {
  stop.abort();
  await running;
  await stage.stop();
});

const named = (
  index: number,
  more: Readonly<Record<string, unknown>> = {},
  namespace = 'team-a',
): KubeObject => {
  const object = acmeObject();
  const name = `web-${String(index).padStart(3, '0')}`;
  const metadata = { ...object.metadata, namespace, name, uid: name };
  return { ...object, ...more, metadata: { ...metadata, ...(more['metadata'] as object) } };
};

async function listed(objects: readonly KubeObject[]): Promise<void> {
  stage.server.always((call: Call) => {
    if (call.query.get('watch') !== 'true') {
      call.answer(404, { kind: 'Status', code: 404 });
      return;
    }
    const isWatched = call.path.endsWith('/acmesigners');
    if (isWatched) watch = call;
    const found = isWatched ? objects : [];
    call.lines(...found.map((object) => ({ type: 'ADDED', object })), bookmark(9, true));
  });
  running = signers.run(stop.signal);
  await until('all is listed', PATIENCE_MS, () => signers.settled);
}

const crowd = (): readonly KubeObject[] =>
  Array.from({ length: 100 }, (_, index) =>
    named(index, { metadata: { annotations: { note: 'y'.repeat(10_000) } } }),
  );

test('each namespace has a maximum of AcmeSigners; beyond it only identities are kept', async () => {
  await listed([...crowd(), named(0, {}, 'team-b')]);
  assert.equal(signers.all().length, MAX_SIGNERS_PER_NAMESPACE + 1);
  assert.notEqual(signers.get('team-b/web-000'), undefined);
  const { object, error } = signers.faulty('team-a/web-099') ?? {};
  assert.match(error?.message ?? '', /the namespace already has 32 AcmeSigners/);
  assert.ok(JSON.stringify(object).length < 500);
});

test('a status of our own does not let an AcmeSigner in that is beyond the maximum', async () => {
  await listed(crowd());
  const { object } = signers.faulty('team-a/web-099') ?? {};
  assert.ok(object !== undefined);
  const metadata = { ...object.metadata, resourceVersion: '10' };
  signers.applyWrite({ ...object, metadata, status: { conditions: [] } } as KubeObject);
  assert.match(signers.faulty('team-a/web-099')?.error.message ?? '', /already has 32/);
  // Nor does it take the place of another.
  watch?.lines({ type: 'DELETED', object: { ...named(0), ...version(11) } });
  watch?.lines({ type: 'MODIFIED', object: { ...named(50), ...version(12, 50) } });
  await until('it is served', PATIENCE_MS, () => signers.get('team-a/web-050') !== undefined);
  assert.equal(signers.all().length, MAX_SIGNERS_PER_NAMESPACE);
});

const version = (resourceVersion: number, index = 0): Pick<KubeObject, 'metadata'> => ({
  metadata: { ...named(index).metadata, resourceVersion: String(resourceVersion) },
});

test('drops an oversized spec and annotations from memory, but keeps the account', async () => {
  const long = { spec: { acme: { server: `https://acme.example/${'x'.repeat(70_000)}` } } };
  const account = { url: 'https://acme.example/account/1' };
  const message = 'm'.repeat(200_000);
  const status = { account, conditions: [{ type: 'Ready', status: 'True', reason: 'R', message }] };
  const annotations = { note: 'y'.repeat(100_000) };
  await listed([named(0, { ...long, status, metadata: { annotations } })]);
  const { object, error } = signers.faulty('team-a/web-000') ?? {};
  assert.match(error?.message ?? '', /more than 65536 characters/);
  assert.ok(JSON.stringify(object).length < 1_000);
  assert.deepEqual((object as { readonly status?: unknown } | undefined)?.status, { account });
  const known = { ...object, metadata: { ...object?.metadata, resourceVersion: '10' } };
  signers.applyWrite(known as KubeObject);
  assert.match(signers.faulty('team-a/web-000')?.error.message ?? '', /more than 65536/);
});

test('keeps the requests for another account key, and no longer text in their place', async () => {
  const [rotateAt, prepareAt] = ['countersign.dev/rotate-at', 'countersign.dev/prepare-at'];
  const requests = { [rotateAt]: '2026-12-01T00:00:00Z', [prepareAt]: '2026-11-30T00:00:00Z' };
  const annotations = { ...requests, note: 'y' };
  const long = { [rotateAt]: 'y'.repeat(100_000) };
  await listed([
    named(0, { metadata: { annotations } }),
    named(1, { metadata: { annotations: long } }),
  ]);
  assert.deepEqual(signers.get('team-a/web-000')?.metadata.annotations, requests);
  assert.equal(signers.get('team-a/web-001')?.metadata.annotations, undefined);
});
