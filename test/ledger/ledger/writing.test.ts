// SPDX-License-Identifier: Apache-2.0
/** What becomes of checkpoints that the API server does not take. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { WriterState } from '#ledger/ledger/writing.ts';
import { noteSigner, openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedBatch, NOW, PREFIX } from '../../support/ledger/records.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const { publicKey } = noteSigner(PREFIX, privateKey);
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const naming = { prefix: PREFIX, publicKey };

/**
 * A cluster whose ConfigMap may refuse, and a ledger that writes there by a clock that the test
 * sets.
 */
class Stand {
  data: Readonly<Record<string, string>> = {};
  refuses = false;
  /** How often a write was tried. */
  tried = 0;
  now = 0;
  readonly component;
  readonly store: LedgerStore;

  private constructor(store: LedgerStore) {
    this.store = store;
    const random = (length: number): Uint8Array => new Uint8Array(length);
    this.component = recordedComponent({
      name: 'ledger',
      monotonic: () => this.now,
      random,
      shard: { owns: () => true, onChange: () => undefined },
    });
    this.component.client.answer(({ method, path, body }) => {
      if (path.includes('/secrets/'))
        return { data: { 'log.key': Buffer.from(pem).toString('base64') } };
      if (method === 'PATCH') {
        this.tried += 1;
        if (this.refuses) throw new Error('etcdserver: request timed out');
        this.data = { ...this.data, ...(body as { data: Readonly<Record<string, string>> }).data };
      }
      return { data: this.data };
    });
  }

  static async create(): Promise<Stand> {
    return new Stand(await openStore(openSqlite(':memory:')));
  }

  writing(): WriterState {
    const { component, store } = this;
    const init = { component, store, namespace: 'countersign-system', prefix: PREFIX };
    return new WriterState({ ...init, shared: false }, () => undefined);
  }

  async grow(from: number, to: number): Promise<void> {
    await this.store.append(issuedBatch(from, to), { naming, now: NOW });
  }

  /** How many entries the published checkpoint has. */
  size(): string | undefined {
    return this.data['log-1']?.split('\n')[1];
  }
}

test('publishes a checkpoint later that the API server rejected, without new entries', async () => {
  const stand = await Stand.create();
  const writing = stand.writing();
  await stand.grow(0, 3);
  stand.refuses = true;
  await writing.pass();
  assert.deepEqual(writing.warnings(), [
    'the last checkpoint is not in the cluster: etcdserver: request timed out',
  ]);
  assert.match((await stand.store.checkpoint(1)) ?? '', /\n3\n/, 'it is signed');
  stand.refuses = false;
  stand.now = 60_000;
  await writing.pass();
  assert.deepEqual([stand.size(), writing.warnings()], ['3', []]);
  await writing.pass();
  assert.equal(stand.tried, 2, 'and once');
  await stand.store.close();
});

test('backs off when the ConfigMap cannot be written, and still signs new entries', async () => {
  const stand = await Stand.create();
  const writing = stand.writing();
  stand.refuses = true;
  const tries: number[] = [];
  for (let pass = 0; pass < 60; pass += 1) {
    stand.now = pass * 5_000;
    await stand.grow(pass, pass + 1);
    const before = stand.tried;
    await writing.pass();
    if (stand.tried > before) tries.push(pass * 5);
  }
  assert.deepEqual(tries, [0, 5, 15, 35, 75, 135, 195, 255]);
  assert.match((await stand.store.checkpoint(1)) ?? '', /\n60\n/);
  stand.refuses = false;
  stand.now = 315_000;
  await writing.pass();
  assert.equal(stand.size(), '60');
  await stand.store.close();
});

test('a process that was ended before it could publish leaves that to the next one', async () => {
  const stand = await Stand.create();
  await stand.grow(0, 4);
  stand.refuses = true;
  await stand.writing().pass();
  assert.equal(stand.size(), undefined);
  stand.refuses = false;
  await stand.writing().pass();
  assert.equal(stand.size(), '4');
  await stand.store.close();
});

test('reports a record from a fast clock once in the log, until its time has come', async () => {
  const stand = await Stand.create();
  const { component } = stand;
  let time = NOW;
  Object.assign(component, { clock: () => time });
  const writing = stand.writing();
  await stand.grow(0, 1);
  await writing.pass();
  assert.deepEqual(writing.warnings(), [], 'what is as old as now is not ahead');
  await stand.store.append(issuedBatch(1, 2), { naming, now: NOW + 60_001 });
  await writing.pass();
  await writing.pass();
  const words = `until ${new Date(NOW + 60_001).toISOString()}, all records get this time`;
  const [warning = '', ...others] = writing.warnings();
  assert.ok(warning.startsWith(words) && others.length === 0, warning);
  const said = component.log.lines.filter((line) => JSON.stringify(line).includes(words));
  assert.equal(said.length, 1);
  time = NOW + 1;
  await writing.pass();
  assert.deepEqual(writing.warnings(), [], 'a minute is what clocks may be apart');
  await stand.store.close();
});
