// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { SignerError } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { until } from '../../cluster/until.ts';
import { changed, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { PATIENCE_MS, bookmark } from '../../support/kube/reflector-fixture.ts';
import {
  SIGNER_NAME,
  request,
  served,
  startControlled,
  type Controlled,
  type Request,
} from './controlled.ts';

let it: Controlled;

beforeEach(async () => {
  it = await startControlled();
});
afterEach(() => it.stop());

const hear = (...objects: readonly object[]): void => {
  it.requests.lines(...objects.map((object) => ({ type: 'ADDED', object })));
};
const looksAt = (name: string): number =>
  it.looks.filter((look) => look.startsWith(`${name}@`)).length;

/** Lets time pass in steps that no watch minds, until it is so. */
const passing = (what: string, probe: () => boolean): Promise<unknown> =>
  until(what, PATIENCE_MS, async () => {
    await it.time.advance(1_000);
    return probe();
  });

test('the watch selects requests of the served signer name on the server', () => {
  assert.equal(it.requests.path, '/apis/example.com/v1/things');
  assert.equal(it.requests.query.get('fieldSelector'), `spec.signerName=${SIGNER_NAME}`);
});

test('a ClusterSigner without spec.requests needs no permission', async () => {
  const names = (): unknown => it.controller.permissions().map((rule) => rule.resourceNames);
  assert.deepEqual(names(), [[SIGNER_NAME]]);
  const without = served(2, changed(workloadSpec(), 'requests', undefined));
  it.signers.lines({ type: 'MODIFIED', object: without });
  await until('no right is needed', PATIENCE_MS, () => isDeepStrictEqual(names(), [[]]));
});

test('a finished request is not looked at again with a stale state', async () => {
  const ended = { ...request('a', 6), done: true };
  it.answer((one) =>
    one.metadata.name === 'a'
      ? { outcome: 'issued', reason: 'Issued', written: ended }
      : { outcome: 'undecided', reason: 'NoRuleMatched' },
  );
  hear(request('a', 5));
  await it.looked('a@5');
  // What the watch still has to say is older than the write, and a change of the CA wakes all.
  hear(request('a', 5), request('b', 7));
  await it.looked('b@7');
  it.changeCa(SIGNER_NAME);
  await until('the other is looked at again', PATIENCE_MS, () => looksAt('b') === 2);
  assert.equal(looksAt('a'), 1);
});

test('the replica that finishes a request removes it without another read', async () => {
  it.answer(({ metadata }) => ({
    outcome: 'issued',
    reason: 'Issued',
    written: { ...request(metadata.name, 10), done: true },
  }));
  hear(request('a', 5));
  await until('it is gone', PATIENCE_MS, () => it.gone.length === 1);
  hear(request('b', 6));
  await until('the next one is gone', PATIENCE_MS, () => it.gone.length > 1);
  assert.deepEqual(it.gone, ['a', 'b']);
  const worked = (): number => it.component.counted.filter(([name]) => name === 'worked').length;
  await until('both are done with', PATIENCE_MS, () => worked() > 1);
  assert.equal(worked(), 2);
});

test('a finished request is counted once, with its duration, and without an Event', async () => {
  const ended = { ...request('a', 6), done: true };
  it.answer(() => ({ outcome: 'issued', reason: 'Issued', written: ended }));
  hear(request('a', 5));
  await until('it is counted', PATIENCE_MS, () =>
    it.component.counted.some(([name]) => name === 'requestDuration'),
  );
  const outcomes = it.component.counted.filter(([name]) => name === 'requests');
  assert.equal(outcomes.length, 1);
  const { kind, signer, outcome, reason } = outcomes[0]?.[1] as Record<string, string>;
  assert.deepEqual(
    [kind, signer, outcome, reason],
    ['CertificateSigningRequest', SIGNER_NAME, 'issued', 'Issued'],
  );
  assert.deepEqual(it.component.notes, []);
});

test('a change of its ClusterSigner reconciles an undecided request', async () => {
  hear(request('a', 5));
  await it.looked('a@5');
  it.signers.lines({ type: 'MODIFIED', object: served(2) });
  await until('it is looked at again', PATIENCE_MS, () => looksAt('a') === 2);
});

test('a signer that is being deleted answers no request, whatever keeps it', async () => {
  hear(request('a', 5));
  await it.looked('a@5');
  const whole = served(2);
  const deletion = {
    deletionTimestamp: '2026-11-21T07:00:00Z',
    finalizers: ['foregroundDeletion'],
  };
  const object = { ...whole, metadata: { ...whole.metadata, ...deletion } };
  it.signers.lines({ type: 'MODIFIED', object });
  await until('its request is dropped', PATIENCE_MS, () => it.gone.includes('a'));
  assert.deepEqual(
    it.controller.permissions().map((rule) => rule.resourceNames),
    [[]],
  );
  assert.equal(looksAt('a'), 1);
});

test('a change of its CA reconciles a request, and a change of another CA does not', async () => {
  hear(request('a', 5));
  await it.looked('a@5');
  it.changeCa('example.com/other');
  hear(request('b', 6));
  await it.looked('b@6');
  assert.equal(looksAt('a'), 1);
  it.changeCa(SIGNER_NAME);
  await until('it is looked at again', PATIENCE_MS, () => looksAt('a') === 2);
});

test('a request is first looked at after its CA and bundle are listed', async () => {
  it.listCa(false);
  hear(request('a', 5));
  it.changeCa(SIGNER_NAME);
  await it.time.advance(1_000);
  assert.equal(looksAt('a'), 0);
  assert.deepEqual(it.component.notes, []);
  it.listCa(true);
  await passing('it is looked at', () => looksAt('a') === 1);
});

test('a waiting request is retried with backoff, an undecided one only after a change', async () => {
  const error = new SignerError({
    code: 'AUTHORITY_MISSING',
    disposition: 'authority',
    message: 'no CA',
  });
  it.answer((one) => {
    if (one.metadata.name === 'waits') throw error;
    return { outcome: 'undecided', reason: 'NoRuleMatched' };
  });
  hear(request('waits', 5), request('rests', 6));
  await it.looked('waits@5', 'rests@6');
  await passing('it is looked at twice more', () => looksAt('waits') >= 3);
  assert.equal(looksAt('rests'), 1);
});

test('an Event tells why a request waits, and the request is not written', async () => {
  it.answer(() => {
    throw new SignerError({
      code: 'AUTHORITY_MISSING',
      disposition: 'authority',
      message: 'no CA',
    });
  });
  hear(request('a', 5));
  await until('an Event', PATIENCE_MS, () => it.component.notes.length > 0);
  const [note] = it.component.notes;
  assert.deepEqual(
    [note?.type, note?.reason, note?.note],
    ['Warning', 'AuthorityMissing', 'no CA'],
  );
  assert.equal(note?.regarding.name, 'a');
  assert.ok(it.component.counted.every(([name]) => name !== 'requestDuration'));
});

test('an unexpected error is logged, fails no request, and stops no other', async () => {
  let broken = true;
  it.answer((one) => {
    if (one.metadata.name === 'a' && broken) throw new TypeError('a fault of ours');
    return { outcome: 'undecided', reason: 'NoRuleMatched' };
  });
  hear(request('a', 5), request('b', 6), request('c', 7));
  await it.looked('a@5', 'b@6', 'c@7');
  broken = false;
  await passing('it is tried again', () => looksAt('a') >= 2);
  const errors = it.component.log.lines.filter(({ level }) => level === 'error');
  assert.equal(errors[0]?.fields['error'], 'a fault of ours');
});

test('an ignored request leaves no metric and no Event', async () => {
  it.answer(() => ({ outcome: 'ignored', reason: '' }));
  hear(request('a', 5), request('b', 6));
  await it.looked('a@5', 'b@6');
  assert.ok(it.component.counted.every(([name]) => name !== 'requests'));
  assert.deepEqual(it.component.notes, []);
});

test('a deleted request is forgotten', async () => {
  hear(request('a', 5));
  await it.looked('a@5');
  it.requests.lines({ type: 'DELETED', object: request('a', 6) });
  await until('it is forgotten', PATIENCE_MS, () => it.gone.includes('a'));
});

test('a failed notification of a deleted request is repeated', async () => {
  let fails = 2;
  it.whenGone(() =>
    (fails -= 1) < 0
      ? Promise.resolve()
      : Promise.reject(new KubeError({ status: 503, what: 'GET' })),
  );
  hear(request('a', 5));
  await it.looked('a@5');
  it.requests.lines({ type: 'DELETED', object: request('a', 6) });
  await until('it is told three times', PATIENCE_MS, async () => {
    await it.time.advance(1_000);
    return it.gone.length === 3;
  });
});

test('the controller is ready once every list is complete', async () => {
  assert.match(it.controller.notReady().join(), /of example\.com\/workload: not listed yet/);
  it.requests.lines(bookmark(9, true));
  await until('it is ready', PATIENCE_MS, () => it.controller.notReady().length === 0);
});

/** A request of that namespace. */
const of = (
  namespace: string,
  name: string,
  version: number,
  more: Partial<Request> = {},
): Request => {
  const plain = request(name, version, more);
  return { ...plain, metadata: { ...plain.metadata, namespace } };
};

/**
 * Keeps both workers busy with one request each, until the result is called; the first of another
 * flow has the reserved seat.
 */
async function busy(): Promise<() => void> {
  const free = Promise.withResolvers<undefined>();
  it.answer(async () => {
    await free.promise;
    return { outcome: 'undecided', reason: 'NoRuleMatched' };
  });
  hear(request('first', 2), request('second', 3));
  await it.looked('first@2', 'second@3');
  return () => {
    free.resolve(undefined);
  };
}

test('a namespace with a hundred requests does not delay another namespace', async () => {
  const free = await busy();
  for (let index = 0; index < 100; index += 1) hear(of('storm', `s${index}`, 10 + index));
  hear(of('quiet', 'victim', 200));
  await until('all are heard', PATIENCE_MS, () => it.component.queue.depth === 100);
  free();
  await it.looked('victim@200', 's99@109');
  // Three are in progress when it comes, and one of the other flow may go before it.
  assert.ok(it.looks.indexOf('victim@200') <= 3 + 1, it.looks.slice(0, 6).join());
});

test('waiting requests of a namespace do not delay a first retry in another one', async () => {
  const count = 2_000;
  it.answer(() => ({ outcome: 'waiting', reason: 'ServiceNotFound' }));
  hear(...Array.from({ length: count }, (_each, index) => of('storm', `s${index}`, 10 + index)));
  await until('all have been looked at', PATIENCE_MS, () => new Set(it.looks).size === count);
  hear(of('quiet', 'victim', 10 + count));
  await it.looked(`victim@${10 + count}`);
  await it.time.advance(1_000);
  assert.ok(looksAt('victim') >= 2, 'it was retried within a second');
});

test('urgent requests come first, and the others are not starved', async () => {
  const free = await busy();
  for (let index = 0; index < 20; index += 1) hear(of('one', `s${index}`, 10 + index));
  hear(of('one', 'urgent', 100, { deadline: 1 }));
  await until('all are heard', PATIENCE_MS, () => it.component.queue.depth === 20);
  free();
  await it.looked('urgent@100', 's19@29');
  assert.equal(it.looks.indexOf('urgent@100'), 3, 'after those in progress');
});

test('of many requests for one CA one is retried, and the rest follow its success', async () => {
  let missing = true;
  it.answer(() => {
    if (!missing) return { outcome: 'undecided', reason: 'NoRuleMatched' };
    throw new SignerError({ code: 'AUTHORITY_MISSING', disposition: 'authority', message: 'no' });
  });
  hear(...Array.from({ length: 50 }, (_each, index) => request(`r${index}`, 10 + index)));
  await until('all have been looked at', PATIENCE_MS, () => new Set(it.looks).size === 50);
  const before = it.looks.length;
  await it.time.advance(20_000);
  assert.ok(it.looks.length - before <= 15, `${it.looks.length - before} looks in 20 s`);
  missing = false;
  it.looks.length = 0;
  await passing('one looks, and all of them after it', () => new Set(it.looks).size === 50);
});

test('a repeated reason is logged once and counted each time', async () => {
  hear(request('a', 5));
  await it.looked('a@5');
  it.changeCa(SIGNER_NAME);
  await until('it is looked at again', PATIENCE_MS, () => looksAt('a') === 2);
  it.answer(() => ({ outcome: 'undecided', reason: 'EvaluationError' }));
  it.changeCa(SIGNER_NAME);
  await until('it is looked at again', PATIENCE_MS, () => looksAt('a') === 3);
  const reasons = it.component.log.lines
    .filter(({ level, message }) => level === 'info' && message === 'request undecided')
    .map(({ fields }) => fields['reason']);
  assert.deepEqual(reasons, ['NoRuleMatched', 'EvaluationError']);
  assert.equal(it.component.counted.filter(([name]) => name === 'requests').length, 3);
});

test('the first request is reconciled before the list is complete', async () => {
  hear(request('a', 5));
  await it.looked('a@5');
  assert.match(it.controller.notReady().join(), /not listed yet/);
});
