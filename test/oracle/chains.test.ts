// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HEAD } from './chains/head.ts';
import { CHAINS } from './chains/index.ts';
import { OPENSSL_REFUSES } from './chains/taken.ts';
import { readOpenssl, writeTable, type Facts } from './corpus/table.ts';
import { chainsAcceptedByOpenssl, judgeChains } from './judge-chains.ts';
import { testOpensslTable } from './openssl-table.ts';
import { Openssl } from './openssl.ts';
import { openOracle } from './oracle.ts';
import { strictnessOf } from './strictness.ts';

const table = readFileSync(join(import.meta.dirname, 'chains/README.md'), 'utf8');
await using oracle = await openOracle();
const judged = await judgeChains(CHAINS, oracle);
const facts = judged.map((each) => each.facts);
const weAccept = ({ ours }: Facts): boolean => ours === 'accepted';
const namesOf = (some: readonly Facts[]): readonly string[] => some.map(({ name }) => name).sort();

test('the corpus has 60 chains or more, each with a unique name', () => {
  assert.ok(CHAINS.length >= 60);
  assert.equal(new Set(CHAINS.map(({ name }) => name)).size, CHAINS.length);
});

test('a chain that Go refuses is refused', () => {
  assert.deepEqual(namesOf(facts.filter((each) => weAccept(each) && !each.go)), []);
});

test('every invalid chain is refused', () => {
  assert.deepEqual(namesOf(facts.filter((each) => weAccept(each) && each.wrong !== '')), []);
});

test('every valid chain is accepted by us and by Go', () => {
  const fine = facts.filter(({ wrong }) => wrong === '');
  assert.deepEqual(namesOf(fine.filter((each) => !weAccept(each) || !each.go)), []);
});

test('each chain that only we refuse has a documented reason', () => {
  const stricter = judged.filter((each) => each.facts.go && !weAccept(each.facts));
  const unexplained = stricter.filter(({ ours: { error } }) => {
    return strictnessOf(`${error?.code ?? ''}: ${error?.message ?? ''}`) === undefined;
  });
  assert.deepEqual(namesOf(unexplained.map((each) => each.facts)), []);
});

test('a chain that OpenSSL refuses is refused, except those listed with a reason', async () => {
  using openssl = new Openssl();
  const ours = judged.filter((each) => weAccept(each.facts));
  const accepted = await chainsAcceptedByOpenssl(ours, openssl);
  const others = ours.map((each) => each.facts).filter(({ name }) => !accepted.has(name));
  assert.deepEqual(namesOf(others), [...OPENSSL_REFUSES.keys()].sort());
});

test('the committed table equals the current results', () => {
  assert.equal(writeTable(HEAD, facts, readOpenssl(table)), table);
});

testOpensslTable(table, (openssl) => chainsAcceptedByOpenssl(judged, openssl));
