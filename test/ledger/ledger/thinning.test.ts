// SPDX-License-Identifier: Apache-2.0
/** Which checkpoints of a ledger that runs for years stay, and when the others go. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createRemoval, type RemovalInit } from '#ledger/ledger/removal.ts';
import { openSqlite, openStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { issuedBatch, naming, NOW } from '../../support/ledger/records.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-thinning-'));
after(() => rmSync(root, { recursive: true, force: true }));

const TURN = 30_000;
const HOUR = 3_600_000;

interface Wanted {
  readonly store: Partial<RemovalInit['store']>;
  readonly turns: number;
  readonly leads?: (turn: number) => boolean;
}

/** Runs so many turns without a retention. Returns the pauses, and what it warns of at the end. */
async function run({ store, turns, leads = () => true }: Wanted): Promise<{
  readonly pauses: number;
  readonly warnings: readonly string[];
}> {
  const end = new AbortController();
  let [turn, pauses] = [0, 0];
  const component = recordedComponent({
    clock: () => NOW + turn * TURN,
    delay: (milliseconds) => {
      if (milliseconds < TURN) pauses += 1;
      else turn += 1;
      if (turn === turns) end.abort();
      return Promise.resolve();
    },
  });
  const removal = createRemoval({
    component,
    store: store as RemovalInit['store'],
    seconds: undefined,
    signers: () => [],
    naming: () => (leads(turn) ? naming : undefined),
  });
  await removal.run(end.signal);
  return { pauses, warnings: removal.warnings() };
}

/** A store whose logs 1 and 2 need so many calls. */
function scripted(
  calls: number,
  onLogs: () => void = () => undefined,
): {
  readonly store: Wanted['store'];
  readonly asked: (readonly [log: number, from: number])[];
} {
  const asked: (readonly [number, number])[] = [];
  const store: Wanted['store'] = {
    logs: () => {
      onLogs();
      return Promise.resolve([1, 2].map((number) => ({ number }) as never));
    },
    thin: (log, from) => {
      asked.push([log, from]);
      const next = from + 10;
      return Promise.resolve({ removed: 9, next, done: next % (calls * 10) === 0 });
    },
  };
  return { store, asked };
}

test('the leader thins each log hourly, with pauses, also without a retention', async () => {
  const { store, asked } = scripted(2);
  const perHour = HOUR / TURN;
  const { pauses } = await run({ store, turns: perHour + 1 });
  assert.deepEqual(asked, [
    [1, 0],
    [1, 10],
    [2, 0],
    [2, 10],
    [1, 20],
    [1, 30],
    [2, 20],
    [2, 30],
  ]);
  assert.equal(pauses, 4);
});

test('who does not lead removes no checkpoint; who leads later begins at the next turn', async () => {
  let looked = 0;
  const { store, asked } = scripted(1, () => {
    looked += 1;
  });
  await run({ store, turns: 3, leads: () => false });
  assert.deepEqual([asked, looked], [[], 0]);
  await run({ store, turns: 3, leads: (turn) => turn === 2 });
  assert.deepEqual(asked, [
    [1, 0],
    [2, 0],
  ]);
});

test('a replica that loses the lead ends at once, and continues when it leads again', async () => {
  const { store, asked } = scripted(2);
  await run({ store, turns: 3, leads: (turn) => asked.length === 0 || turn === 2 });
  assert.deepEqual(asked, [
    [1, 0],
    [1, 10],
    [2, 0],
    [2, 10],
  ]);
});

test('a database that is away is a warning, and tried again at the next turn', async () => {
  let asked = 0;
  const failing: Wanted['store'] = {
    logs: () => {
      asked += 1;
      return Promise.reject(new Error('it is away'));
    },
  };
  const { warnings } = await run({ store: failing, turns: 3 });
  assert.equal(asked, 3);
  assert.deepEqual(warnings, ['no checkpoint is removed: it is away']);
  const { store } = scripted(1);
  let turns = 0;
  const recovering = {
    ...failing,
    thin: store.thin,
    logs: () => (turns++ === 0 ? Promise.reject(new Error('away')) : Promise.resolve([])),
  };
  assert.deepEqual((await run({ store: recovering as Wanted['store'], turns: 2 })).warnings, []);
});

test('of a year of checkpoints 10,000 and one for 4,096 entries stay', async () => {
  const database = openSqlite(join(root, 'year.db'));
  const store = await openStore(database);
  await store.append(issuedBatch(0, 1), { naming, now: NOW });
  // Two records between two checkpoints.
  const sizes = Array.from({ length: 30_000 }, (_, at) => 2 * at + 1);
  await database.write((sql) =>
    sql.insert(
      { table: 'checkpoints', names: ['log', 'size', 'note'] },
      sizes.map((size) => [1, size, `log\n${size}\nroot\n\n`]),
    ),
  );
  await run({ store, turns: 1 });
  const left = await store.checkpoints(1, -1, sizes.length);
  const kept = left.map((note) => Number(note.split('\n')[1]));
  const oldest = sizes.at(-10_000) ?? 0;
  const whole = oldest - (oldest % 4_096);
  const lasts = Array.from({ length: whole / 4_096 }, (_, span) => (span + 1) * 4_096 - 1);
  assert.deepEqual(kept, [1, ...lasts, ...sizes.filter((size) => size >= whole)]);
  assert.ok(kept.length < 10_000 + 4_096 && kept.length >= 10_000);
  await store.close();
});
