// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '#api/object/object.ts';
import type { Stage } from '../../support/requests/issuance-stage.ts';
import { forEachKind, leavesOf, moved, namesakeOf, type Kind } from './kinds.ts';

const MINUTE = 60_000;
const GONE = { outcome: 'ignored', reason: 'Gone' } as const;

/** One leaf is signed that does not reach the API server. */
async function undelivered<T extends KubeObject>(kind: Kind<T>): Promise<Stage<T>> {
  const stage = kind.start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle(), { code: 'KUBE_UNAVAILABLE', disposition: 'retry' });
  return stage;
}

forEachKind('a request is signed once and written once', async (kind) => {
  const stage = kind.start();
  const { outcome, reason, event, written } = await stage.handle();
  assert.deepEqual([outcome, reason, event], ['issued', 'Issued', undefined]);
  assert.deepEqual(written?.metadata, stage.server.stored?.metadata);
  assert.deepEqual(stage.methods(), ['PUT']);
});

forEachKind('a write whose answer was lost is found by a GET and not repeated', async (kind) => {
  const stage = kind.start();
  stage.server.troubles.push('lost');
  await assert.rejects(stage.handle(), { code: 'KUBE_UNAVAILABLE', disposition: 'retry' });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['issued', 'Issued']);
  assert.equal(outcome.written, stage.server.stored);
  assert.deepEqual(stage.methods(), ['PUT', 'GET']);
});

forEachKind('a leaf that was not delivered is sent again as it is, after a GET', async (kind) => {
  const stage = await undelivered(kind);
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.later(3 * MINUTE);
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT', 'GET', 'PUT']);
  assert.equal(leavesOf(kind, stage), 1);
});

forEachKind('a leaf that waited an hour is not delivered: a new one is signed', async (kind) => {
  const stage = await undelivered(kind);
  stage.later(60 * MINUTE);
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT']);
  assert.equal(leavesOf(kind, stage), 2);
});

forEachKind('a leaf signed by a clock that was set back since is not delivered', async (kind) => {
  const stage = await undelivered(kind);
  stage.later(-8 * MINUTE);
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.equal(leavesOf(kind, stage), 2);
});

forEachKind('after a conflict the same leaf is sent with the version of a GET', async (kind) => {
  const stage = kind.start();
  stage.server.stored = moved(stage.request);
  await assert.rejects(stage.handle(), { code: 'KUBE_CONFLICT', disposition: 'retry' });
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT']);
  const versions = stage.sent().map(({ metadata }) => metadata.resourceVersion);
  assert.deepEqual(versions, [stage.request.metadata.resourceVersion, '9']);
  assert.equal(leavesOf(kind, stage), 1);
});

forEachKind('what somebody else ended meanwhile stays as it is', async (kind) => {
  for (const [law, end] of kind.ends) {
    const stage = kind.start();
    stage.server.stored = end(moved(stage.request));
    await assert.rejects(stage.handle());
    // As it is now: the cache may be older for long.
    const changed = stage.server.stored;
    assert.deepEqual(await stage.handle(), { ...GONE, changed }, law);
    assert.deepEqual(stage.methods(), ['PUT', 'GET'], law);
  }
});

forEachKind('a request that was deleted meanwhile is left', async (kind) => {
  const stage = kind.start();
  stage.server.stored = undefined;
  await assert.rejects(stage.handle(), { code: 'KUBE_NOT_FOUND', disposition: 'retry' });
  assert.deepEqual(await stage.handle(), GONE);
});

forEachKind('a new request never gets the leaf of a deleted one of its name', async (kind) => {
  const stage = await undelivered(kind);
  stage.server.stored = namesakeOf(stage.request);
  assert.deepEqual(await stage.handle(), GONE);
  assert.deepEqual(stage.methods(), ['PUT', 'GET']);
});

forEachKind('a new request under the name of a deleted one gets its own leaf', async (kind) => {
  const stage = await undelivered(kind);
  const namesake = namesakeOf(stage.request);
  stage.server.stored = namesake;
  assert.equal((await stage.handle(namesake)).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'PUT']);
  assert.equal(leavesOf(kind, stage), 2);
});

forEachKind('a stale read of an answered request changes nothing', async (kind) => {
  const stage = kind.start();
  await stage.handle();
  const { stored } = stage.server;
  await stage.handle().catch(() => undefined);
  assert.equal(stage.server.stored, stored);
});

forEachKind('what was signed for a request that is gone is forgotten', async (kind) => {
  const stage = await undelivered(kind);
  const { namespace, name } = stage.request.metadata;
  await stage.forget(namespace === undefined ? name : `${namespace}/${name}`);
  await stage.handle();
  assert.deepEqual(stage.methods(), ['PUT', 'PUT']);
  assert.equal(leavesOf(kind, stage), 2);
});

forEachKind('a signature is logged once, however often its leaf is sent', async (kind) => {
  const stage = await undelivered(kind);
  stage.server.troubles.push('lost');
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'issued');
  const [sent] = stage.sent();
  assert.ok(sent);
  const serial = new X509Certificate(kind.chainOf(sent)).serialNumber.toLowerCase();
  assert.deepEqual(stage.signed(), [{ uid: stage.request.metadata.uid, serial }]);
});
