// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CORPUS } from './corpus/index.ts';
import { HEAD } from './corpus/head.ts';
import { readOpenssl, writeTable } from './corpus/table.ts';
import { OPENSSL_REFUSES, REFUSED_ALONE, TAKEN } from './corpus/taken.ts';
import { acceptedByOpenssl, factsOf, judgeAll, type Judgement } from './judge.ts';
import { testOpensslTable } from './openssl-table.ts';
import { Openssl } from './openssl.ts';
import { openOracle } from './oracle.ts';
import { strictnessOf } from './strictness.ts';

const table = readFileSync(join(import.meta.dirname, 'corpus/README.md'), 'utf8');
await using oracle = await openOracle();
const judged = await judgeAll(CORPUS, oracle);
const weAccept = (each: Judgement): boolean => factsOf(each).ours === 'accepted';
const goAccepts = (each: Judgement): boolean => factsOf(each).go;
const namesOf = (some: readonly Judgement[]): readonly string[] =>
  some.map((each) => each.case.name).sort();

test('the corpus has 300 files or more, each with a unique name', () => {
  assert.ok(CORPUS.length >= 300);
  assert.equal(new Set(CORPUS.map(({ name }) => name)).size, CORPUS.length);
});

test('a file that Go refuses is refused', () => {
  assert.deepEqual(namesOf(judged.filter((each) => weAccept(each) && !goAccepts(each))), []);
});

test('each file that only we refuse has a documented reason', () => {
  const stricter = judged.filter((each) => !weAccept(each) && goAccepts(each));
  const unexplained = stricter.filter(({ ours: { error } }) => {
    return strictnessOf(`${error?.code ?? ''}: ${error?.message ?? ''}`) === undefined;
  });
  assert.deepEqual(namesOf(unexplained), []);
});

// Of a request OpenSSL opens no extension, so that its word says less: strictness.ts has its rows.
test('what Go and OpenSSL both read is read, except what is listed with a reason', () => {
  const read = readOpenssl(table);
  const alone = judged
    .filter((each) => !weAccept(each) && goAccepts(each) && read.has(each.case.name))
    .filter((each) => each.case.kind !== 'request');
  assert.deepEqual(namesOf(alone), [...REFUSED_ALONE.keys()].sort());
});

test('every invalid file is refused, except those listed with a reason', () => {
  const taken = judged.filter((each) => weAccept(each) && each.case.wrong !== '');
  assert.deepEqual(namesOf(taken), [...TAKEN.keys()].sort());
});

test('every valid file is accepted by us and by Go', () => {
  const fine = judged.filter((each) => each.case.wrong === '');
  assert.deepEqual(namesOf(fine.filter((each) => !weAccept(each) || !goAccepts(each))), []);
});

test('a file that OpenSSL refuses is refused, except those listed with a reason', async () => {
  using openssl = new Openssl();
  const ours = judged.filter(weAccept);
  const accepted = await acceptedByOpenssl(ours, openssl);
  const others = ours.filter((each) => !accepted.has(each.case.name));
  assert.deepEqual(namesOf(others), [...OPENSSL_REFUSES.keys()].sort());
});

test('the committed table equals the current results', () => {
  assert.equal(writeTable(HEAD, judged.map(factsOf), readOpenssl(table)), table);
});

testOpensslTable(table, (openssl) => acceptedByOpenssl(judged, openssl));
