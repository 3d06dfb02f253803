// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lintAnchors } from '#diagnose/lint/anchor-rules.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../support/pki/chain.ts';

const root = link('Root', { extensions: [ca(), usage(), ...keyIds('Root')] });
const below = link('Below', {
  by: root,
  extensions: [ca(0), usage(), ...keyIds('Below', 'Root')],
});
const leaf = link('leaf', { by: below });

const rules = (where: string, ...links: readonly Link[]): readonly string[] =>
  lintAnchors(
    links.map(({ certificate }) => certificate.raw),
    where,
    NOW,
  ).map(({ rule }) => rule);

test('lint names who rejects an intermediate that is alone among anchors', () => {
  assert.deepEqual(rules('ca.crt', below), ['anchor-is-root']);
  assert.deepEqual(rules('secret/team/ca ca.crt', below), ['anchor-is-root']);
  const [found] = lintAnchors([below.certificate.raw], 'ca.crt', NOW);
  assert.match(
    found?.message ?? '',
    /rejected by OpenSSL, OpenSSL strict, Node, Python before 3.13/,
  );
});

test('lint takes a root, and an intermediate beside its root, for anchors', () => {
  assert.deepEqual(rules('ca.crt', root), []);
  assert.deepEqual(rules('ca.crt', below, root), []);
});

test('lint takes a chain for no anchors', () => {
  assert.deepEqual(rules('secret/team/ca tls.crt', below), []);
  assert.deepEqual(rules('chain.pem', leaf, below), []);
});
