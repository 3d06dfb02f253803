// SPDX-License-Identifier: Apache-2.0
/** What the ledger has of requests that are answered, refused, repeated and given up. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { KubeObject } from '#api/object/object.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { random } from '../../support/ca/issuing.ts';
import { openIntermediate } from '../../support/ca/intermediate.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { KeptRecords, nextTurn } from '../../support/ledger/kept-records.ts';
import {
  certificateRequestStage,
  csrStage,
  pcrStage,
  type Stage,
} from '../../support/requests/issuance-stage.ts';
import { forEachKind, type Kind } from './kinds.ts';

const AWAY = { code: 'LEDGER_UNAVAILABLE', disposition: 'retry' } as const;

interface Recorded<T> {
  readonly ledger: KeptRecords;
  readonly stage: Stage<T>;
}

function recorded<T extends KubeObject>(
  kind: Kind<T>,
  mode: 'required' | 'best-effort' = 'required',
  maxWaiting?: number,
): Recorded<T> {
  const ledger = new KeptRecords();
  const recorder = ledger.recorder(mode, 'signer', maxWaiting);
  return { ledger, stage: kind.start({ recorder }) };
}

/** SHA-256 of each leaf in statuses that were sent. */
function sentLeaves<T extends KubeObject>(kind: Kind<T>, stage: Stage<T>): readonly string[] {
  const leaves = stage.sent().map((each) => new X509Certificate(kind.chainOf(each)).raw);
  return [...new Set(leaves.map(fingerprint))];
}

function recordedLeaves(ledger: KeptRecords): readonly string[] {
  return ledger
    .of('issued')
    .map(({ certificate }) => fingerprint(Buffer.from(certificate, 'base64')));
}

forEachKind('a delivered leaf has its record, and a result', async (kind) => {
  const { ledger, stage } = recorded(kind);
  assert.equal((await stage.handle()).outcome, 'issued');
  await nextTurn();
  assert.deepEqual(recordedLeaves(ledger), sentLeaves(kind, stage));
  assert.deepEqual(ledger.results(), ['delivered']);
  const [{ key, ca, request, signer } = assert.fail()] = ledger.of('issued');
  assert.equal(ledger.of('result')[0]?.of, key);
  assert.equal(ca, openIntermediate().facts.fingerprint);
  assert.deepEqual([request.kind, request.uid], [stage.request.kind, stage.request.metadata.uid]);
  const { metadata, spec } = stage.signer;
  assert.equal(signer.name, spec.signerName);
  assert.deepEqual([signer.object?.uid, signer.generation], [metadata.uid, metadata.generation]);
});

forEachKind(
  'required: while the ledger is away nothing is written, and then the same leaf',
  async (kind) => {
    const { ledger, stage } = recorded(kind);
    ledger.away = true;
    await assert.rejects(stage.handle(), AWAY);
    await assert.rejects(stage.handle(), AWAY);
    assert.ok(!stage.methods().includes('PUT'));
    assert.equal(stage.signed().length, 1);
    ledger.away = false;
    assert.equal((await stage.handle()).outcome, 'issued');
    assert.deepEqual(recordedLeaves(ledger), sentLeaves(kind, stage));
    assert.equal(stage.signed().length, 1);
  },
);

for (const [mode, seats, what] of [
  ['required', 1, 'lends its seat at the API server'],
  ['best-effort', 0, 'keeps its seat'],
] as const) {
  forEachKind(`${mode}: a request whose leaf is recorded ${what}`, async (kind) => {
    const limiter = createConcurrencyLimiter({ ...fakeTime(), random });
    while (limiter.available > 0) limiter.acquire();
    const ledger = new KeptRecords();
    const free: number[] = [];
    ledger.onBatch = () => free.push(limiter.available);
    const recorder = ledger.recorder(mode, 'signer');
    const stage = kind.start({ recorder, concurrency: limiter });
    assert.equal((await stage.handle()).outcome, 'issued');
    await nextTurn();
    assert.deepEqual([free[0], limiter.available], [seats, 0]);
  });
}

forEachKind('a leaf that is sent again has one record', async (kind) => {
  const { ledger, stage } = recorded(kind);
  stage.server.troubles.push('unreachable', 'lost');
  await assert.rejects(stage.handle());
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'issued');
  await nextTurn();
  assert.equal(ledger.of('issued').length, 1);
  assert.deepEqual(ledger.results(), ['delivered']);
});

forEachKind('the leaf of a request whose name another one has now is abandoned', async (kind) => {
  const { ledger, stage } = recorded(kind);
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  const { request } = stage;
  const namesake = { ...request, metadata: { ...request.metadata, uid: 'another' } };
  stage.server.stored = namesake;
  assert.equal((await stage.handle(namesake)).outcome, 'issued');
  await nextTurn();
  assert.deepEqual(ledger.results(), ['abandoned', 'delivered']);
});

forEachKind('a leaf that is given up is abandoned, and the one after it recorded', async (kind) => {
  const { ledger, stage } = recorded(kind);
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.later(60 * 60_000);
  assert.equal((await stage.handle()).outcome, 'issued');
  await nextTurn();
  assert.deepEqual(recordedLeaves(ledger), sentLeaves(kind, stage));
  assert.deepEqual(ledger.results(), ['abandoned', 'delivered']);
});

/** As the controller does when the watch shows the request answered, or gone. */
function leavesTheCache<T extends KubeObject>({ stage }: Recorded<T>): Promise<void> {
  const { namespace, name } = stage.request.metadata;
  return stage.forget(namespace === undefined ? name : `${namespace}/${name}`);
}

forEachKind(
  'a leaf whose answer was lost is delivered, when the watch shows it before the next attempt',
  async (kind) => {
    const all = recorded(kind);
    const { ledger, stage } = all;
    stage.server.troubles.push('lost');
    await assert.rejects(stage.handle());
    stage.server.asked = () => {
      throw new KubeError({ status: 503, what: 'GET' });
    };
    await assert.rejects(leavesTheCache(all), { status: 503 });
    stage.server.asked = () => undefined;
    await leavesTheCache(all);
    await leavesTheCache(all);
    await nextTurn();
    assert.deepEqual(ledger.results(), ['delivered']);
    assert.deepEqual(stage.methods(), ['PUT', 'GET', 'GET']);
  },
);

forEachKind(
  'a leaf that is not in the request that leaves the cache is abandoned',
  async (kind) => {
    const all = recorded(kind);
    const { ledger, stage } = all;
    stage.server.troubles.push('unreachable');
    await assert.rejects(stage.handle());
    await leavesTheCache(all);
    await nextTurn();
    assert.deepEqual(ledger.results(), ['abandoned']);
  },
);

forEachKind('a delivered leaf is not asked for when its request leaves the cache', async (kind) => {
  const all = recorded(kind);
  const { ledger, stage } = all;
  await stage.handle();
  await leavesTheCache(all);
  await nextTurn();
  assert.deepEqual([ledger.results(), stage.methods()], [['delivered'], ['PUT']]);
});

forEachKind('a leaf of a request that is gone is abandoned', async (kind) => {
  const { ledger, stage } = recorded(kind);
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.server.stored = undefined;
  assert.equal((await stage.handle()).outcome, 'ignored');
  await nextTurn();
  assert.deepEqual(ledger.results(), ['abandoned']);
});

forEachKind(
  'best-effort: the leaf is delivered while the ledger is away, and recorded later',
  async (kind) => {
    const { ledger, stage } = recorded(kind, 'best-effort');
    ledger.away = true;
    assert.equal((await stage.handle()).outcome, 'issued');
    assert.equal(ledger.kept.size, 0);
    ledger.away = false;
    await nextTurn();
    await nextTurn();
    assert.deepEqual(recordedLeaves(ledger), sentLeaves(kind, stage));
    assert.deepEqual(ledger.results(), ['delivered']);
  },
);

forEachKind('best-effort: what finds no room is counted exactly', async (kind) => {
  const { ledger, stage } = recorded(kind, 'best-effort', 1);
  ledger.away = true;
  assert.equal((await stage.handle()).outcome, 'issued');
  ledger.away = false;
  for (let turn = 0; turn < 4; turn += 1) await nextTurn();
  assert.equal(ledger.of('issued').length, 1);
  assert.deepEqual(
    ledger.of('gap').map(({ lost }) => lost),
    [1],
  );
});

forEachKind(
  'without a ledger nothing is asked for a record, and nothing more is called',
  async (kind) => {
    const [without, { stage }] = [kind.start(), recorded(kind)];
    await without.handle();
    await stage.handle();
    assert.deepEqual(without.methods(), ['PUT']);
    assert.deepEqual(without.methods(), stage.methods());
  },
);

test('a refusal is recorded before it is written, with its reason, once', async () => {
  const ledger = new KeptRecords();
  const recorder = ledger.recorder('required', 'pcr-issuer');
  const stage = pcrStage(
    { unverifiedUserAnnotations: { 'nobody.example/knows': 'it' } },
    { recorder },
  );
  ledger.away = true;
  await assert.rejects(stage.handle(), AWAY);
  assert.deepEqual(stage.methods(), []);
  ledger.away = false;
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'denied');
  const [denial, ...others] = ledger.of('denied');
  assert.equal(others.length, 0);
  assert.equal(denial?.reason, 'InvalidUnverifiedUserAnnotations');
  assert.match(denial.message, /nobody\.example/);
});

test('a record names the pod, its ServiceAccount and its node, with their UIDs', async () => {
  const ledger = new KeptRecords();
  const stage = pcrStage({}, { recorder: ledger.recorder('required', 'pcr-issuer') });
  await stage.handle();
  const [{ requester, decision } = assert.fail()] = ledger.of('issued');
  const { spec, metadata } = stage.request;
  const { namespace = '' } = metadata;
  assert.deepEqual(requester, {
    pod: { namespace, name: spec.podName, uid: spec.podUID },
    serviceAccount: { namespace, name: spec.serviceAccountName, uid: spec.serviceAccountUID },
    node: { name: spec.nodeName, uid: spec.nodeUID },
  });
  assert.deepEqual(decision, { rule: 'spec.pods.allow' });
});

test('a record names the user of a CSR, and how it was approved', async () => {
  const ledger = new KeptRecords();
  const stage = csrStage({}, { recorder: ledger.recorder('required', 'signer') });
  await stage.handle();
  const [{ requester, decision, request } = assert.fail()] = ledger.of('issued');
  const { username, groups } = stage.request.spec;
  assert.deepEqual([requester.user?.username, requester.user?.groups], [username, groups]);
  assert.deepEqual(decision, { stated: { reason: 'ByHand' } });
  assert.ok(request.pkcs10 !== undefined);
});

test('a record of a CertificateRequest names the rule that allowed it', async () => {
  const ledger = new KeptRecords();
  const recorder = ledger.recorder('required', 'certificate-request');
  const stage = certificateRequestStage({}, { recorder });
  await stage.handle();
  const [{ decision, request } = assert.fail()] = ledger.of('issued');
  assert.equal(decision?.rule, stage.signer.spec.certificateRequests?.rules[0]?.name);
  assert.equal(request.namespace, stage.request.metadata.namespace);
});
