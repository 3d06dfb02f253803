// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { resource } from '#kube/resource/resource.ts';
import { createPendingRequests, type PendingRequests } from '#requests/loop/pending-requests.ts';
import { partsOf } from '#requests/loop/request-key.ts';
import { until } from '../../cluster/until.ts';
import type { RecordedComponent } from '../../support/component/recorded-component.ts';
import type { Call } from '../../support/kube/scripted-server.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../../support/kube/reflector-fixture.ts';
import { componentOn, request, type Request } from './controlled.ts';
import type { RequestSelector } from '#component/signers/signer-set.ts';

const NAME = 'example.com/workload';
const OTHER = 'example.com/other';

let stage: Stage;
let component: RecordedComponent;
let requests: PendingRequests<Request>;
let keys: string[];
let finished: string[];

beforeEach(async () => {
  stage = await startStage();
  component = componentOn(stage);
  keys = [];
  finished = [];
  requests = createPendingRequests<Request>({
    component,
    kind: 'PodCertificateRequest',
    resource: resource({ group: 'example.com', version: 'v1', plural: 'things' }),
    isPending: ({ done }) => done !== true,
    retainedFields: () => ({}),
    onFinished: ({ metadata }) => finished.push(metadata.name),
    onKey: (key) => keys.push(key),
  });
});
afterEach(async () => {
  await requests.stop();
  await stage.stop();
});

const add = (call: Call, ...objects: readonly Request[]): void => {
  call.lines(...objects.map((object) => ({ type: 'ADDED', object })));
};
const told = (key: string): Promise<unknown> =>
  until(`${key} is told`, PATIENCE_MS, () => keys.includes(key));
const inNamespace = (namespace: string, name: string, version: number): Request => {
  const plain = request(name, version);
  return { ...plain, metadata: { ...plain.metadata, namespace } };
};

const selectors = (...names: readonly string[]): ReadonlyMap<string, RequestSelector> =>
  new Map(names.map((each) => [each, { fieldSelector: `spec.signerName=${each}` }]));

test('each signer name has its own watch and its own keys', async () => {
  requests.serve(selectors(NAME, OTHER));
  const [first, second] = [await stage.server.next(), await stage.server.next()];
  const asked = [first, second].map(({ query }) => query.get('fieldSelector'));
  assert.deepEqual(
    new Set(asked),
    new Set([`spec.signerName=${NAME}`, `spec.signerName=${OTHER}`]),
  );
  const [ours, theirs] = asked[0] === `spec.signerName=${NAME}` ? [first, second] : [second, first];
  add(ours, inNamespace('team-a', 'web', 5));
  add(theirs, request('web', 6));
  await told(`${NAME} team-a/web`);
  await told(`${OTHER} web`);
  assert.deepEqual(requests.keysOf(NAME), [`${NAME} team-a/web`]);
  assert.equal((await requests.load(partsOf(`${NAME} team-a/web`)))?.metadata.resourceVersion, '5');
  assert.equal((await requests.load(partsOf(`${OTHER} web`)))?.metadata.resourceVersion, '6');
  assert.equal(await requests.load(partsOf(`${OTHER} team-a/web`)), undefined);
});

test('a finished request is removed, and does not count as pending', async () => {
  requests.serve(selectors(NAME));
  const call = await stage.server.next();
  add(call, request('a', 5), request('b', 6, { done: true }), request('c', 7));
  await told(`${NAME} c`);
  assert.deepEqual(requests.keysOf(NAME), [`${NAME} a`, `${NAME} c`]);
  requests.applyWrite(NAME, request('a', 8, { done: true }));
  assert.deepEqual(
    finished,
    ['b', 'a'],
    'a finished request is reported, whichever replica finished it',
  );
  assert.deepEqual(requests.keysOf(NAME), [`${NAME} c`]);
  const counts = component.counted.filter(([name]) => name === 'requestPending');
  assert.deepEqual(
    counts.map(([, labels, count]) => [labels, count]),
    [1, 2, 1].map((count) => [{ kind: 'PodCertificateRequest', signer: NAME }, count]),
  );
});

test('a signer name no longer served is forgotten, and its requests are reported', async () => {
  requests.serve(selectors(NAME));
  add(await stage.server.next(), request('a', 5));
  await told(`${NAME} a`);
  keys.length = 0;
  requests.serve(selectors());
  assert.deepEqual([requests.keysOf(NAME), keys], [[], [`${NAME} a`]]);
  assert.equal(await requests.load(partsOf(`${NAME} a`)), undefined);
  assert.deepEqual(component.counted.at(-1)?.slice(1), [
    { kind: 'PodCertificateRequest', signer: NAME },
    0,
  ]);
});

test('a signer name’s new selector starts another watch and forgets old requests', async () => {
  requests.serve(selectors(NAME));
  add(await stage.server.next(), request('a', 5));
  await told(`${NAME} a`);
  requests.serve(new Map([[NAME, { fieldSelector: 'spec.issuerRef.name=younger' }]]));
  assert.deepEqual(requests.keysOf(NAME), []);
  const call = await stage.server.next();
  assert.equal(call.query.get('fieldSelector'), 'spec.issuerRef.name=younger');
  add(call, request('b', 6));
  await told(`${NAME} b`);
  assert.deepEqual(requests.keysOf(NAME), [`${NAME} b`]);
});

test('the component is not ready before the requests of each ClusterSigner are listed', async () => {
  requests.serve(selectors(NAME));
  const call = await stage.server.next();
  assert.deepEqual(requests.notReady(), [`PodCertificateRequests of ${NAME}: not listed yet`]);
  call.lines(bookmark(9, true));
  await until('it is ready', PATIENCE_MS, () => requests.notReady().length === 0);
});

test('a Signer’s watch covers only its namespace', async () => {
  const selection = { fieldSelector: `spec.signerName=${NAME}`, namespace: 'team-a' };
  requests.serve(new Map([[NAME, selection]]));
  const call = await stage.server.next();
  assert.match(call.path, /\/namespaces\/team-a\/[a-z]+$/);
  assert.equal(call.query.get('fieldSelector'), selection.fieldSelector);
});

test('readiness does not wait for the requests of a namespaced signer of any kind', async () => {
  const selection = { fieldSelector: 'spec.signerName=x', isOfNamespace: true };
  const names = ['signers.countersign.dev/team-a.web', 'testissuers.example.com/team-a.web'];
  const ofTeams = names.map((each) => [each, selection] as const);
  requests.serve(new Map([...selectors(NAME), ...ofTeams]));
  for (let watch = 0; watch < 3; watch += 1) await stage.server.next();
  assert.deepEqual(requests.notReady(), [`PodCertificateRequests of ${NAME}: not listed yet`]);
});
