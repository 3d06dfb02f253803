// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyTable } from '#acme/acme-responder/key-table.ts';

const file = (challenge: string, dnsName: string, token = 't'): Parameters<KeyTable['put']>[0] => ({
  challenge,
  token,
  dnsName,
  key: `${token}.${challenge}`,
});

test('a token with one key authorization is answered for any host, so redirects work', () => {
  const table = new KeyTable();
  table.put(file('a/one', 'a.example.com'));
  assert.equal(table.keyOf('t', 'a.example.com'), 't.a/one');
  assert.equal(table.keyOf('t', 'challenges.example.net'), 't.a/one');
  assert.equal(table.keyOf('u', 'a.example.com'), undefined);
});

test('of several with one token, that of the host; none where the host is another', () => {
  const table = new KeyTable();
  table.put(file('a/one', 'a.example.com'));
  table.put(file('b/two', 'b.example.com'));
  assert.equal(table.keyOf('t', 'b.example.com'), 't.b/two');
  assert.equal(table.keyOf('t', 'a.example.com'), 't.a/one');
  assert.equal(table.keyOf('t', 'c.example.com'), undefined);
});

test('a later Challenge with the same token and name never displaces the first', () => {
  const table = new KeyTable();
  table.put(file('a/one', 'a.example.com'));
  table.put(file('b/two', 'a.example.com'));
  table.put(file('a/one', 'a.example.com'));
  assert.equal(table.keyOf('t', 'a.example.com'), 't.a/one');
  table.remove(file('a/one', 'a.example.com'));
  assert.equal(table.keyOf('t', 'a.example.com'), 't.b/two');
});

test('nothing is left of what was removed', () => {
  const table = new KeyTable();
  table.put(file('a/one', 'a.example.com'));
  table.remove(file('a/two', 'a.example.com'));
  assert.equal(table.keyOf('t', ''), 't.a/one');
  table.remove(file('a/one', 'a.example.com'));
  assert.equal(table.keyOf('t', ''), undefined);
});
