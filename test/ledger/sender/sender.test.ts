// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import type { Delay } from '#base/ports.ts';
import type { LedgerRecord } from '#ledger/records/record.ts';
import { BestEffortSender } from '#ledger/sender/best-effort.ts';
import type { SendBatch } from '#ledger/sender/contract.ts';
import { RequiredSender } from '#ledger/sender/required.ts';
import { batchSends } from '#ledger/sender/batched-sender.ts';
import { issuedRecord, NOW, resultRecord } from '../../support/ledger/records.ts';

const UNAVAILABLE = { code: 'LEDGER_UNAVAILABLE' };

/** A ledger that a test can take away; it keeps each key once, as the real one does. */
class Ledger {
  readonly kept = new Map<string, LedgerRecord>();
  readonly batches: number[] = [];
  away = false;
  /** Keeps a batch and loses its answer, once. */
  losesAnswer = false;
  refuses: string | undefined;

  readonly send: SendBatch = async (records) => {
    await Promise.resolve();
    this.batches.push(records.length);
    if (this.away) throw new Error('connection refused');
    const results = records.map((record) => {
      if (record.key === this.refuses) return conflict();
      this.kept.set(record.key, record);
      return undefined;
    });
    if (!this.losesAnswer) return results;
    this.losesAnswer = false;
    throw new Error('connection reset');
  };

  get gaps(): readonly number[] {
    return [...this.kept.values()].flatMap((each) => (each.kind === 'gap' ? [each.lost] : []));
  }
}

function conflict(): SignerError {
  return new SignerError({ code: 'LEDGER_CONFLICT', disposition: 'fail', message: 'another one' });
}

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
const keyOf = (n: number): string => issuedRecord(n).key;
const turns = async (count = 50): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
};

const soon: Delay = () => Promise.resolve();

test('required: one batch takes records appended together, and the next later ones', async () => {
  const ledger = new Ledger();
  const sender = new RequiredSender(ledger.send, soon);
  const first = [0, 1, 2].map((n) => sender.append(issuedRecord(n)));
  await Promise.resolve();
  const second = [3, 4].map((n) => sender.append(issuedRecord(n)));
  await Promise.all([...first, ...second]);
  assert.deepEqual(ledger.batches, [3, 2]);
  const many = Array.from({ length: 600 }, (_, n) => sender.append(resultRecord(n)));
  await Promise.all(many);
  assert.deepEqual(ledger.batches, [3, 2, 256, 256, 88]);
  await sender.close();
});

test('required: appends nothing while the ledger is away, then everything once', async () => {
  const ledger = new Ledger();
  const sender = new RequiredSender(ledger.send, soon);
  ledger.away = true;
  await assert.rejects(sender.append(issuedRecord(0)), UNAVAILABLE);
  assert.equal(sender.state.failing, true);
  ledger.away = false;
  ledger.losesAnswer = true;
  await assert.rejects(sender.append(issuedRecord(0)), UNAVAILABLE);
  await sender.append(issuedRecord(0));
  assert.equal(ledger.kept.size, 1);
  assert.deepEqual(sender.state, { mode: 'required', waiting: 0, lost: 0, failing: false });
  await sender.close();
  await assert.rejects(sender.append(issuedRecord(1)), UNAVAILABLE);
});

test('required: a record that is refused refuses no other of its batch', async () => {
  const ledger = new Ledger();
  ledger.refuses = keyOf(1);
  const sender = new RequiredSender(ledger.send, soon);
  const all = await Promise.allSettled([0, 1, 2].map((n) => sender.append(issuedRecord(n))));
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});

/** A delay that ends when the test says so, or when it is aborted. */
class Pause {
  #end = Promise.withResolvers<undefined>();
  /** Milliseconds of each wait. */
  readonly waits: number[] = [];
  readonly delay: Delay = async (milliseconds, signal) => {
    this.waits.push(milliseconds);
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
    await Promise.race([this.#end.promise, aborted]);
  };

  async end(): Promise<void> {
    this.#end.resolve(undefined);
    this.#end = Promise.withResolvers<undefined>();
    await turns();
  }
}

test('required: a batch waits, within a bound, for as many records as the last burst', async () => {
  const ledger = new Ledger();
  const pause = new Pause();
  const sender = new RequiredSender(ledger.send, pause.delay);
  const append = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) void sender.append(resultRecord(n));
    await turns();
  };
  await append(4);
  await append(1);
  assert.deepEqual(ledger.batches, [4]);
  await append(3);
  assert.deepEqual(ledger.batches, [4, 4]);
  await append(3);
  await pause.end();
  assert.deepEqual(ledger.batches, [4, 4, 3]);
  await append(1);
  assert.deepEqual(ledger.batches, [4, 4, 3, 1], 'three are no burst: nobody waits');
  await append(4);
  const last = sender.append(issuedRecord(0));
  await turns();
  await Promise.all([sender.close(), last]);
  assert.deepEqual(ledger.batches, [4, 4, 3, 1, 4, 1], 'at the end nobody waits');
});

test('required: a batch waits longer after a larger one, and 25 ms at most', async () => {
  for (const [count, wait] of [
    [4, 5],
    [8, 10],
    [20, 25],
    [100, 25],
  ] as const) {
    const ledger = new Ledger();
    const pause = new Pause();
    const sender = new RequiredSender(ledger.send, pause.delay);
    for (let n = 0; n < count; n += 1) void sender.append(resultRecord(n));
    await turns();
    void sender.append(resultRecord(count));
    await turns();
    assert.deepEqual([ledger.batches, pause.waits], [[count], [wait]]);
    await sender.close();
  }
});

test('together: unawaited results go with the next batch, or alone without one', async () => {
  const ledger = new Ledger();
  const pause = new Pause();
  ledger.refuses = resultRecord(1).key;
  const { sendNow, sendAlong } = batchSends(ledger.send, pause.delay);
  const results = sendAlong([resultRecord(0), resultRecord(1)]);
  await turns();
  assert.deepEqual(ledger.batches, []);
  assert.deepEqual(await sendNow([issuedRecord(0)]), [undefined]);
  assert.deepEqual(
    (await results).map((each) => each?.code),
    [undefined, 'LEDGER_CONFLICT'],
  );
  assert.deepEqual(ledger.batches, [3]);
  await pause.end();
  assert.deepEqual(ledger.batches, [3], 'what went is not sent again');
  const alone = sendAlong([resultRecord(2)]);
  await pause.end();
  assert.deepEqual(await alone, [undefined]);
  assert.deepEqual(ledger.batches, [3, 1]);
});

test('together: each hears of a ledger that is away', async () => {
  const ledger = new Ledger();
  const pause = new Pause();
  ledger.away = true;
  const { sendNow, sendAlong } = batchSends(ledger.send, pause.delay);
  const both = await Promise.allSettled([sendAlong([resultRecord(0)]), sendNow([issuedRecord(0)])]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  const alone = assert.rejects(sendAlong([resultRecord(0)]));
  await pause.end();
  await alone;
  assert.deepEqual(ledger.batches, [2, 1]);
});

/** A sender whose pauses end when the test says so. */
function bestEffort(ledger: Ledger, maxWaiting: number) {
  const pauses: number[] = [];
  let next = Promise.withResolvers<undefined>();
  const sender = new BestEffortSender({
    send: ledger.send,
    clock: () => NOW,
    component: issuedRecord(0).component,
    incarnation: 'pcr-issuer-0/1',
    maxWaiting,
    delay: async (milliseconds, signal) => {
      pauses.push(milliseconds);
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
      await Promise.race([next.promise, aborted]);
    },
  });
  const wake = async (): Promise<void> => {
    next.resolve(undefined);
    next = Promise.withResolvers<undefined>();
    await turns();
  };
  return { sender, pauses, wake };
}

test('best-effort: nobody waits, records arrive later and in order, and pauses grow', async () => {
  const ledger = new Ledger();
  ledger.away = true;
  const { sender, pauses, wake } = bestEffort(ledger, 100);
  for (let n = 0; n < 5; n += 1) await sender.append(issuedRecord(n));
  await turns();
  await wake();
  await wake();
  ledger.away = false;
  await wake();
  assert.deepEqual(pauses, [500, 1000, 2000]);
  assert.deepEqual([...ledger.kept.keys()], [0, 1, 2, 3, 4].map(keyOf));
  assert.deepEqual(sender.state, { mode: 'best-effort', waiting: 0, lost: 0, failing: false });
  await sender.close();
});

test('best-effort: counts losses exactly over outages, lost answers and refusals', async () => {
  const ledger = new Ledger();
  const { sender, wake } = bestEffort(ledger, 10);
  let sent = 0;
  const append = async (count: number): Promise<void> => {
    for (const end = sent + count; sent < end; sent += 1) await sender.append(issuedRecord(sent));
  };
  for (let outage = 0; outage < 4; outage += 1) {
    ledger.away = true;
    await append(13 + outage);
    await turns();
    await append(5);
    await wake();
    await append(2);
    ledger.away = false;
    ledger.losesAnswer = outage % 2 === 0;
    ledger.refuses = keyOf(sent - 20);
    await wake();
    await wake();
    await append(3);
    await turns();
  }
  const records = [...ledger.kept.values()].filter(({ kind }) => kind !== 'gap').length;
  assert.ok(ledger.gaps.length >= 4);
  assert.equal(records + sum(ledger.gaps), sent);
  assert.equal(sender.state.lost, sum(ledger.gaps));
  await sender.close();
});

test('best-effort: a repeated record is one, whether it was kept, lost or waits', async () => {
  const ledger = new Ledger();
  const { sender, wake } = bestEffort(ledger, 3);
  const append = async (...all: readonly number[]): Promise<void> => {
    for (const n of all)
      await sender.append(issuedRecord(n, { at: new Date(NOW + n).toISOString() }));
  };
  await append(0);
  await turns();
  ledger.away = true;
  await append(1, 2, 3, 4, 5);
  await append(0, 1, 2, 3, 4, 5);
  await turns();
  await append(0, 4);
  ledger.away = false;
  await wake();
  await append(0, 1, 4, 5);
  await turns();
  assert.deepEqual([sender.state.lost, sum(ledger.gaps)], [2, 2]);
  const kept = [...ledger.kept.values()].filter(({ kind }) => kind !== 'gap');
  assert.deepEqual(
    kept.map(({ key }) => key),
    [0, 1, 2, 3].map(keyOf),
  );
  await sender.close();
});

test('best-effort: an outage with repeated losses keeps one gap and bounded memory', async () => {
  const ledger = new Ledger();
  ledger.away = true;
  const { sender, wake } = bestEffort(ledger, 10);
  for (let n = 0; n < 100; n += 1) {
    await sender.append(issuedRecord(n));
    if (n % 10 === 9) await wake();
  }
  assert.deepEqual([sender.state.waiting, sender.state.lost], [11, 90]);
  ledger.away = false;
  await wake();
  await wake();
  assert.deepEqual([sum(ledger.gaps), ledger.kept.size], [90, 10 + ledger.gaps.length]);
  await sender.close();
});

test('best-effort: at the end of the process what still waits is counted as lost', async () => {
  const ledger = new Ledger();
  ledger.away = true;
  const { sender } = bestEffort(ledger, 10);
  for (let n = 0; n < 4; n += 1) await sender.append(issuedRecord(n));
  await turns();
  await sender.close();
  await sender.append(issuedRecord(4));
  assert.deepEqual([sender.state.waiting, sender.state.lost], [0, 5]);
});
