// SPDX-License-Identifier: Apache-2.0
/**
 * A backup of the database, in the place of what it was made of: the checkpoints that were
 * published tell.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import {
  compareWithPublished,
  publishCheckpoints,
  signCheckpoints,
} from '#ledger/ledger/checkpoints.ts';
import { noteSigner, openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedBatch, NOW, PREFIX } from '../../support/ledger/records.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-restored-'));
after(() => rmSync(root, { recursive: true, force: true }));

const { privateKey } = generateKeyPairSync('ed25519');
const key = {
  keys: [privateKey] as const,
  publicKey: noteSigner(PREFIX, privateKey).publicKey,
};
const naming = { prefix: PREFIX, publicKey: key.publicKey };
const OLDER = { code: 'LEDGER_INCONSISTENT', message: /an older copy was restored/ };

/** A ConfigMap that keeps what is written into it, and the stores that are published there. */
class Published {
  data: Readonly<Record<string, string>> = {};
  readonly #component = recordedComponent({ name: 'ledger' });

  constructor() {
    this.#component.client.answer(({ method, body }) => {
      if (method === 'PATCH') {
        this.data = { ...this.data, ...(body as { data: Readonly<Record<string, string>> }).data };
      }
      return { data: this.data };
    });
  }

  compare(store: LedgerStore): ReturnType<typeof compareWithPublished> {
    return compareWithPublished(this.#init(store));
  }

  async publish(
    store: LedgerStore,
    before: Awaited<ReturnType<typeof compareWithPublished>> = new Map(),
  ): ReturnType<typeof publishCheckpoints> {
    const init = this.#init(store);
    return publishCheckpoints(init, key, await signCheckpoints(init, key, before), before);
  }

  #init(store: LedgerStore): Parameters<typeof compareWithPublished>[0] {
    return { component: this.#component, store, namespace: 'countersign-system' };
  }
}

async function grown(store: LedgerStore, from: number, to: number): Promise<void> {
  await store.append(issuedBatch(from, to), { naming, now: NOW });
}

/** How a backup of a database that is in use is made, from one path to another. */
const BACKUPS: readonly [how: string, make: (from: string, to: string) => void][] = [
  [
    'VACUUM INTO',
    (from, to) => {
      const reader = new DatabaseSync(from);
      reader.prepare('VACUUM INTO ?').run(to);
      reader.close();
    },
  ],
  [
    'a copy of the files',
    (from, to) => {
      for (const end of ['', '-wal']) cpSync(`${from}${end}`, `${to}${end}`);
    },
  ],
];

for (const [number, [how, make]] of BACKUPS.entries()) {
  test(`continues a backup by ${how} while it is the newest, and not once it is behind`, async () => {
    const [path, copy, stale] = ['db', 'copy', 'stale'].map((name) =>
      join(root, `${number}-${name}`),
    ) as [string, string, string];
    const published = new Published();
    const store = await openStore(openSqlite(path));
    await grown(store, 0, 40);
    await published.publish(store);
    make(path, copy);
    make(path, stale);

    const newest = await openStore(openSqlite(copy));
    const before = await published.compare(newest);
    assert.equal((await newest.verify([...before.values()])).found, 0);
    await grown(newest, 40, 60);
    await published.publish(newest, before);
    assert.match(published.data['log-1'] ?? '', /\n60\n/);
    await newest.close();

    const older = await openStore(openSqlite(stale));
    await assert.rejects(published.compare(older), OLDER);
    const notes = Object.values({ ...published.data, logs: '' }).filter((note) => note !== '');
    assert.equal((await older.verify(notes)).found, 1);
    // On purpose: nobody claims any longer that there was more.
    published.data = {};
    assert.equal((await published.compare(older)).size, 0);
    await older.close();
    await store.close();
  });
}

test('notices an older copy beneath a running ledger, and signs nothing of it', async () => {
  const paths = ['living', 'behind'].map((name) => join(root, name)) as [string, string];
  const published = new Published();
  const [store, other] = [
    await openStore(openSqlite(paths[0])),
    await openStore(openSqlite(paths[1])),
  ];
  const same = issuedBatch(0, 40);
  for (const each of [store, other]) await each.append(same, { naming, now: NOW });
  await grown(store, 40, 50);
  const known = await published.publish(store);
  const before = published.data;
  // As a replica that lacked the last ten records and was promoted; then it grows beyond what was
  // published.
  await assert.rejects(published.publish(other, known), OLDER);
  await grown(other, 100, 130);
  await assert.rejects(published.publish(other, known), { code: 'LEDGER_INCONSISTENT' });
  assert.deepEqual(published.data, before);
  assert.equal(await other.checkpoint(1), undefined);
  for (const each of [store, other]) await each.close();
});
