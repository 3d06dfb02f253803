// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveredChain } from '#pki/x509/delivered-chain.ts';
import { SignatureBudget, isSelfSigned } from '#pki/x509/issuers.ts';
import {
  NOW,
  ca,
  keyIds,
  link,
  usage,
  type Link,
  type LinkParts,
} from '../../support/pki/chain.ts';
import { seq, utcTime } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';

/** A CA with the key of this name, issued `by` another. */
function caOf(name: string, key: string, parts: LinkParts & { pathLen?: number } = {}): Link {
  const { pathLen, ...rest } = parts;
  return link(name, {
    key: privateKey('P-256', key),
    extensions: [ca(pathLen), usage(), ...keyIds(key, parts.by?.name)],
    ...rest,
  });
}

const oldRoot = caOf('Old Root', 'old');
const newRoot = caOf('New Root', 'new');
const byNew = caOf('Issuing CA', 'issuing', { by: newRoot });
const byOld = caOf('Issuing CA', 'issuing', { by: oldRoot });

const names = new Map<Link, string>([
  [byNew, 'byNew'],
  [byOld, 'byOld'],
]);

/** The names of the links that are delivered. */
function delivered(
  chain: readonly [Link, ...Link[]],
  anchors: readonly Link[],
  maxSignatures?: number,
): readonly string[] {
  const certificates = chain.map(({ certificate }) => certificate);
  const found = deliveredChain({
    chain: certificates,
    anchors: anchors.map(({ certificate }) => certificate),
    now: NOW,
    signatures: new SignatureBudget(maxSignatures),
  });
  return found.map((each) => {
    const of = chain.find(({ certificate }) => certificate === each);
    return of === undefined ? 'an anchor' : (names.get(of) ?? of.name);
  });
}

test('a cross-certified CA is delivered with both of its certificates', () => {
  assert.deepEqual(delivered([byNew, byOld], [oldRoot, newRoot]), ['byNew', 'byOld']);
  assert.deepEqual(delivered([byOld, byNew], [newRoot, oldRoot]), ['byOld', 'byNew']);
});

test('a new root certified by the old one of the same name is no root', () => {
  const a = caOf('Same Root', 'a');
  const b = caOf('Same Root', 'b');
  const bridge = caOf('Same Root', 'b', { by: a });
  const issuing = caOf('Same Issuing', 'same', { by: b });
  assert.equal(isSelfSigned(b.certificate), true);
  assert.equal(isSelfSigned(bridge.certificate), false);
  assert.deepEqual(delivered([issuing, bridge], [a, b]), ['Same Issuing', 'Same Root']);
});

test('a certificate that has expired is not delivered', () => {
  const expired = caOf('Issuing CA', 'issuing', {
    by: oldRoot,
    validity: seq(utcTime('260101000000Z'), utcTime('260531000000Z')),
  });
  assert.deepEqual(delivered([byNew, expired], [oldRoot, newRoot]), ['byNew']);
});

test('a certificate that is above no certificate of the CA is not delivered', () => {
  const other = caOf('Other', 'other');
  const unrelated = caOf('Other Sub', 'sub', { by: other });
  assert.deepEqual(delivered([byNew, unrelated, byOld], [oldRoot, newRoot]), ['byNew', 'byOld']);
});

test('a certificate that leads to no anchor is not delivered', () => {
  assert.deepEqual(delivered([byNew, byOld], [newRoot]), ['byNew']);
});

test('each certificate comes before its issuers, in whatever order the Secret has them', () => {
  const middle = caOf('Middle', 'middle', { by: newRoot });
  const low = caOf('Low', 'low', { by: middle });
  assert.deepEqual(delivered([low, newRoot, middle], [newRoot]), ['Low', 'Middle']);
});

test('an intermediate as anchor is delivered with the CAs above it', () => {
  const middle = caOf('Middle', 'middle', { by: newRoot });
  const low = caOf('Low', 'low', { by: middle });
  assert.deepEqual(delivered([low, middle, newRoot], [low]), ['Low', 'Middle']);
  assert.deepEqual(delivered([low, middle], [middle]), ['Low', 'Middle']);
});

test('many CAs that certified each other are visited once each', () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const web = keys.flatMap((key) =>
    keys.filter((by) => by !== key).map((by) => caOf(key, key, { by: caOf(by, by) })),
  );
  const [first, ...rest] = web;
  assert.ok(first !== undefined);
  const ends = [caOf('h', 'h')];
  const all = delivered([first, ...rest], ends, web.length * keys.length);
  assert.equal(new Set(all).size, keys.length);
});

test('no more signatures are verified than are allowed, and the CA itself is delivered', () => {
  // A signature that an earlier test verified would cost nothing.
  const [a, b] = [caOf('Unseen A', 'old'), caOf('Unseen B', 'new')];
  const byA = caOf('Unseen CA', 'issuing', { by: a });
  const byB = caOf('Unseen CA', 'issuing', { by: b });
  assert.deepEqual(delivered([byA, byB], [b, a], 1), ['Unseen CA']);
});
