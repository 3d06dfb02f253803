// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HOUR,
  NOW,
  SINCE,
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
  sinceOf,
} from '../../support/controllers/bundles.ts';

const [A, B] = [anchor('A'), anchor('B')];
const signer = signerWith([A.pem]);
const published = served(planOf({ signer }));
const LATER = NOW + HOUR;

test('an anchor is served since the moment at which it was published, in whole seconds', () => {
  assert.deepEqual(sinceOf(planOf({ signer })), { [A.fingerprint]: '2026-11-21T09:00:00Z' });
});

test('who is served keeps its time, who is new counts from now', () => {
  const plan = planOf({ signer: signerWith([A.pem, B.pem]), bundle: published, now: LATER });
  assert.deepEqual(sinceOf(plan), {
    [A.fingerprint]: '2026-11-21T09:00:00Z',
    [B.fingerprint]: '2026-11-21T10:00:00Z',
  });
});

test('an anchor that was edited out and comes back counts from now: for a while it was not there', () => {
  const bundle = { ...published, spec: { ...published.spec, trustBundle: B.pem } };
  const plan = planOf({ signer, bundle, now: LATER });
  assert.deepEqual(sinceOf(plan), { [A.fingerprint]: '2026-11-21T10:00:00Z' });
});

test('who is no longer an anchor is no longer said to be served', () => {
  const both = served(planOf({ signer: signerWith([A.pem, B.pem]) }));
  const plan = planOf({ signer, bundle: both, now: LATER });
  assert.deepEqual(Object.keys(sinceOf(plan) as object), [A.fingerprint]);
});

const foreign: [law: string, text: string | undefined][] = [
  ['a time in the future', JSON.stringify({ [A.fingerprint]: '2031-01-01T00:00:00Z' })],
  ['no time', JSON.stringify({ [A.fingerprint]: 'always' })],
  ['a number', JSON.stringify({ [A.fingerprint]: 0 })],
  ['another anchor’s time', JSON.stringify({ [B.fingerprint]: '2020-01-01T00:00:00Z' })],
  ['no JSON', '{'],
  ['null', 'null'],
  ['nothing', undefined],
];

for (const [law, text] of foreign) {
  test(`what somebody else wrote lends no age: ${law}`, () => {
    const bundle = annotated(published, { [SINCE]: text });
    const plan = planOf({ signer, bundle, now: LATER });
    assert.deepEqual(sinceOf(plan), { [A.fingerprint]: '2026-11-21T10:00:00Z' });
  });
}

test('a longest leaf that cannot be read is what the CAs say, and no end of the attester', () => {
  const bundle = annotated(published, { 'countersign.dev/longest-leaf': 'long' });
  const { annotations } = served(planOf({ signer, bundle })).metadata;
  assert.equal(annotations?.['countersign.dev/longest-leaf'], '24h');
});

test('the bundle says for which ClusterSigner and by which installation it is published', () => {
  const { annotations } = published.metadata;
  assert.equal(annotations?.['countersign.dev/cluster-signer'], 'workload');
  assert.equal(annotations['countersign.dev/secret-namespace'], 'countersign-keys');
});
