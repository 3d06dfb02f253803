// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { openWorkerStore } from '#ledger/store/worker-store.ts';
import { contentsOf } from '#ledger/store/search.ts';
import {
  appending,
  issuedBatch,
  issuedRecord,
  naming,
  NOW,
  uriOf,
} from '../../support/ledger/records.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-worker-'));
after(() => rmSync(root, { recursive: true, force: true }));

const entry = new URL('../../../src/ledger/store/worker.ts', import.meta.url);
const context = { naming, now: NOW };

test('a store in threads answers as one in this thread, with the same error codes', async () => {
  const store = await openWorkerStore(join(root, 'a.db'), entry);
  await store.append(issuedBatch(0, 20), context);
  const other = issuedRecord(3, { decision: { rule: 'other' } });
  const [refused] = await store.append([appending(other)], context);
  assert.ok(refused instanceof SignerError && refused.code === 'LEDGER_CONFLICT');
  const terms = [{ kind: 'san', value: uriOf(7) }] as const;
  const [found] = (await store.find({ terms, limit: 1 })).records;
  assert.equal(found && contentsOf(found).record.key, 'request-7/issued');
  assert.equal((await store.verify([])).records, 20);
  await assert.rejects(store.compareWith('nobody/2026\n'), { code: 'LEDGER_INCONSISTENT' });
  await store.close();
});

test('a file that cannot be opened is LEDGER_UNAVAILABLE', async () => {
  const path = join(root, 'nowhere', 'a.db');
  await assert.rejects(openWorkerStore(path, entry), { code: 'LEDGER_UNAVAILABLE' });
});

test('after its end a store refuses, and does not wait indefinitely', async () => {
  const store = await openWorkerStore(join(root, 'b.db'), entry);
  await store.close();
  await assert.rejects(store.logs(), { code: 'LEDGER_UNAVAILABLE' });
});
