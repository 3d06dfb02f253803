// SPDX-License-Identifier: Apache-2.0
/** What must hold of records that are removed from a ledger, in any database. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fingerprint } from '#pki/x509/certificate.ts';
import { idOf } from '#ledger/records/ids.ts';
import { contentsOf } from '#ledger/store/search.ts';
import type { LedgerStore } from '#ledger/store/store.ts';
import {
  appending,
  issuedBatch,
  issuedRecord,
  NOW,
  podCertificate,
  resultRecord,
} from './records.ts';
import { signed, signHeads } from './store-laws.ts';

/** @param opened - an empty ledger of this name */
export function removalLaws(opened: (name: string) => Promise<LedgerStore>): void {
  test('retention removes old dead records, keeps their proofs, and logs the removal', async () => {
    const store = await opened('retention');
    await store.append(issuedBatch(0, 30), { naming: signed, now: NOW });
    await store.append(issuedBatch(30, 40), { naming: signed, now: NOW + 60_000 });
    const [before = ''] = await signHeads(store);
    const eraser = { naming: signed, now: NOW + 10 * 60_000, by: 'ledger', limit: 4 };
    const erase = async (): Promise<number> => {
      const erasure = { reason: 'retention', appendedBefore: NOW + 1 } as const;
      return (await store.erase(erasure, { ...eraser, salt: randomBytes(32) })).removed;
    };
    // Certificates 0 to 9 have expired by then.
    assert.deepEqual([await erase(), await erase(), await erase(), await erase()], [4, 4, 2, 0]);
    const report = await store.verify([before]);
    assert.deepEqual(report.findings, []);
    assert.deepEqual([report.records, report.entries], [33, 43]);
    assert.deepEqual(report.erased, { retention: 10, person: 0 });
    assert.deepEqual(await store.removal(idOf({ log: 1, index: 5 })), {
      reason: 'retention',
      at: new Date(NOW + 10 * 60_000).toISOString(),
      by: 'ledger',
      record: { log: 1, index: 41 },
    });
    for (const index of [10, 40, 43]) {
      assert.equal(await store.removal(idOf({ log: 1, index })), undefined, String(index));
    }
    const terms = [{ kind: 'pod', value: 'team-5/pod-5' }] as const;
    assert.deepEqual((await store.find({ terms, limit: 1 })).records, []);
    assert.equal(await store.get(idOf({ log: 1, index: 5 })), undefined);
    await store.close();
  });

  test('the records of a person are removed, and nothing of them is found', async () => {
    const store = await opened('person');
    const user = { user: { username: 'jane@example.com', groups: ['dev'] } };
    const jane = { requester: user, decision: { by: 'kubernetes-admin' } };
    await store.append(
      Array.from({ length: 10 }, (_, n) => appending(issuedRecord(n, n % 3 === 0 ? jane : {}))),
      { naming: signed, now: NOW },
    );
    const terms = [{ kind: 'user', value: 'jane@example.com' }] as const;
    const ids = (await store.find({ terms, limit: 100 })).records.map(({ id }) => id);
    assert.equal(ids.length, 4);
    await store.append([appending(resultRecord(3)), appending(resultRecord(4))], {
      naming: signed,
      now: NOW,
    });
    const eraser = { naming: signed, now: NOW, by: 'admin', limit: 100, salt: randomBytes(32) };
    const erased = await store.erase({ reason: 'person', ids }, eraser);
    // With them goes what became of the certificate.
    assert.deepEqual(erased, { removed: 5, record: { log: 1, index: 12 } });
    assert.deepEqual((await store.find({ terms, limit: 100 })).records, []);
    const left = await store.after(0, 100);
    assert.ok(left.every(({ body }) => !Buffer.from(body).includes('jane')));
    const report = await store.verify([]);
    assert.deepEqual([report.findings, report.erased], [[], { retention: 0, person: 5 }]);
    const removal = await store.removal(idOf({ log: 1, index: 9 }));
    assert.deepEqual([removal?.reason, removal?.by], ['person', 'admin']);
    await store.close();
  });

  test('the ledger still reports a living certificate whose record was removed', async () => {
    const store = await opened('living');
    await store.append(issuedBatch(0, 3), { naming: signed, now: NOW });
    const ids = [0, 1, 2].map((index) => idOf({ log: 1, index }));
    const prints = [0, 1, 2, 3].map((n) => fingerprint(podCertificate(n)));
    const recorded = async (): Promise<readonly string[]> =>
      (await store.recorded(prints)).toSorted((a, b) => prints.indexOf(a) - prints.indexOf(b));
    assert.deepEqual(await recorded(), prints.slice(0, 3));
    assert.deepEqual(await store.recorded([]), []);
    const eraser = { naming: signed, now: NOW + 90_000, by: 'admin', limit: 1 };
    await store.erase({ reason: 'person', ids }, { ...eraser, salt: randomBytes(32) });
    assert.deepEqual(await recorded(), prints.slice(2, 3));
    const kindsOf = async (n: number): Promise<readonly string[]> => {
      const terms = [{ kind: 'fingerprint', value: fingerprint(podCertificate(n)) }] as const;
      const { records } = await store.find({ terms, limit: 9 });
      return records.map((each) => contentsOf(each).record.kind);
    };
    // 0 and 1 have expired.
    assert.deepEqual([await kindsOf(0), await kindsOf(1), await kindsOf(2)], [[], [], ['erased']]);
    await store.close();
  });

  test('a living certificate that two records have goes with both of them', async () => {
    const store = await opened('living-twice');
    const again = issuedRecord(5, { key: 'request-5-again/issued' });
    const both = [appending(issuedRecord(5)), appending(again)];
    await store.append(both, { naming: signed, now: NOW });
    const ids = [0, 1].map((index) => idOf({ log: 1, index }));
    const eraser = { naming: signed, now: NOW, by: 'admin', limit: 9, salt: randomBytes(32) };
    assert.equal((await store.erase({ reason: 'person', ids }, eraser)).removed, 2);
    const [erased] = await store.after(0, 9);
    assert.ok(erased !== undefined);
    const { record } = contentsOf(erased);
    const print = fingerprint(podCertificate(5));
    assert.deepEqual(record.kind === 'erased' && record.living, [print]);
    assert.deepEqual(await store.recorded([print]), [print]);
    assert.deepEqual((await store.verify([])).findings, []);
    await store.close();
  });
}
