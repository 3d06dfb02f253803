// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOpenssl } from './corpus/table.ts';
import { isLong } from './length.ts';
import { Openssl, opensslVersion } from './openssl.ts';

/**
 * Tests, in `make test-oracle` only, that OpenSSL accepts exactly what a committed table says.
 *
 * @param accepted - the names of the cases that OpenSSL accepts
 */
export function testOpensslTable(
  table: string,
  accepted: (openssl: Openssl) => Promise<ReadonlySet<string>>,
): void {
  if (!isLong) return;
  void test('the committed table has the verdicts of OpenSSL', async (t) => {
    if (opensslVersion() !== '3.0') {
      t.skip('the table is written for OpenSSL 3.0');
      return;
    }
    using openssl = new Openssl();
    assert.deepEqual([...(await accepted(openssl))].sort(), [...readOpenssl(table)].sort());
  });
}
