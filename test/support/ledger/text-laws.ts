// SPDX-License-Identifier: Apache-2.0
/** What must hold of texts that strangers have chosen, in any database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { contentsOf } from '#ledger/store/search.ts';
import type { LedgerStore } from '#ledger/store/store.ts';
import type { SearchTerm } from '#ledger/records/terms.ts';
import { appending, issuedBatch, issuedRecord, naming, NOW } from './records.ts';

const context = { naming, now: NOW };

type Issued = ReturnType<typeof issuedRecord>;

/** A record of what this user asked for. */
function parseFieldSelector(n: number, username: string): Issued {
  return issuedRecord(n, { requester: { user: { username, groups: [username] } } });
}

const indexes = async (store: LedgerStore, term: SearchTerm): Promise<readonly number[]> =>
  (await store.find({ terms: [term], limit: 10 })).records.map(({ index }) => index);

/** 900 ideographs, no two alike: 2,700 bytes in UTF-8, which no index of PostgreSQL takes. */
const LONG = String.fromCodePoint(...Array.from({ length: 900 }, (_, at) => 0x4e00 + at * 7));

export function textLaws(opened: (name: string) => Promise<LedgerStore>): void {
  test('a text with U+0000 is kept as it is and found by it, and no other text is it', async () => {
    const store = await opened('nul');
    const [nul, escaped, cut] = [
      parseFieldSelector(0, 'jane\0root'),
      parseFieldSelector(1, 'jane\u00010root'),
      parseFieldSelector(2, 'jane'),
    ];
    const annotated = issuedRecord(3, {
      key: 'pcr-issuer/\0/3',
      request: { ...issuedRecord(3).request, annotations: { note: '\0' } },
    });
    const other = { ...annotated, key: 'pcr-issuer/' };
    const sent = [nul, escaped, cut, annotated, other];
    const places = await store.append(sent.map(appending), context);
    assert.deepEqual(
      places.map((each) => (each instanceof SignerError ? each.code : each.index)),
      [0, 1, 2, 3, 4],
    );
    assert.deepEqual(
      (await store.after(0, 10)).map((each) => contentsOf(each).record),
      sent,
    );
    for (const [index, { requester }] of [nul, escaped, cut].entries()) {
      const value = requester.user?.username ?? '';
      assert.deepEqual(await indexes(store, { kind: 'user', value }), [index]);
    }
    const again = await store.append(sent.map(appending), context);
    assert.ok(again.every((each) => 'known' in each && each.known));
    assert.deepEqual((await store.verify([])).findings, []);
    await store.close();
  });

  test('a text that no index takes is kept, and takes no other with it', async () => {
    const store = await opened('long');
    const long = parseFieldSelector(0, LONG);
    const places = await store.append([appending(long), ...issuedBatch(1, 3)], context);
    assert.ok(places.every((each) => 'index' in each));
    const [first] = await store.after(0, 1);
    assert.deepEqual(first && contentsOf(first).record, long);
    assert.deepEqual(await indexes(store, { kind: 'user', value: LONG }), []);
    assert.deepEqual(await indexes(store, { kind: 'request', value: 'request-0' }), [0]);
    await store.close();
  });
}
