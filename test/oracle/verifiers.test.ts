// SPDX-License-Identifier: Apache-2.0
/** What Go, OpenSSL, Node and GnuTLS make of chains below a ceremony's CAs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { openOracle } from './oracle.ts';
import { PAGE, judged, tableIn } from './verifiers/page.ts';

const oracle = await openOracle();
after(() => oracle[Symbol.asyncDispose]());

const found = await judged(oracle);
const page = tableIn(readFileSync(PAGE, 'utf8'));

test('the table of verifiers lists these cases and verifiers', () => {
  assert.deepEqual(page[0], found[0]);
  assert.deepEqual(
    page.map(([name]) => name),
    found.map(([name]) => name),
  );
});

const [[, ...columns] = [], ...rows] = found;
for (const [name = '', ...verdicts] of rows) {
  test(`docs/reference/verifiers.md has the verdicts on: ${name}`, (t) => {
    const recorded = page.find(([each]) => each === name)?.slice(1) ?? [];
    for (const [index, verdict] of verdicts.entries()) {
      const column = columns[index] ?? '';
      if (verdict === 'absent') t.diagnostic(`${column} is absent on this machine: not compared`);
      else assert.equal(recorded[index], verdict, column);
    }
  });
}
