// SPDX-License-Identifier: Apache-2.0
/** What retention removes, when, and what it leaves alone. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createRemoval } from '#ledger/ledger/removal.ts';
import { openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import {
  appending,
  issuedBatch,
  issuedRecord,
  naming,
  NOW,
  resultRecord,
} from '../../support/ledger/records.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-retention-'));
const DAY = 86_400_000;
const stores: LedgerStore[] = [];
after(async () => {
  await Promise.all(stores.map((each) => each.close()));
  rmSync(root, { recursive: true, force: true });
});

async function opened(name: string): Promise<LedgerStore> {
  const store = await openStore(openSqlite(join(root, `${name}.db`)));
  stores.push(store);
  return store;
}

/**
 * A signer whose CA has signed leaves of this Go duration: a ClusterSigner, or a Signer of a
 * namespace.
 */
function signerOf(
  longestLeaf: string,
  signerName = 'example.com/workload',
  namespace?: string,
): ClusterSigner {
  const [, name = ''] = signerName.split('/');
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const status = { authorities: [{ longestLeaf }] };
  return { metadata, spec: { signerName }, status } as unknown as ClusterSigner;
}

interface Ran {
  readonly delays: readonly number[];
  readonly warnings: readonly string[];
  readonly component: ReturnType<typeof recordedComponent>;
}

/** One look, and `between` it and the next one, in each pause. */
async function run(
  store: LedgerStore,
  {
    signers = [signerOf('24h')],
    between = () => Promise.resolve(),
    days = 30,
    now = NOW + 40 * DAY,
  }: {
    readonly signers?: readonly ClusterSigner[] | undefined;
    readonly between?: () => Promise<unknown>;
    readonly days?: number;
    readonly now?: number;
  },
): Promise<Ran> {
  const end = new AbortController();
  const delays: number[] = [];
  const component = recordedComponent({
    clock: () => now,
    delay: async (milliseconds) => {
      delays.push(milliseconds);
      await between();
      if (milliseconds > 1_000) end.abort();
    },
  });
  const retention = createRemoval({
    component,
    store,
    seconds: days * 86_400,
    signers: () => signers,
    naming: () => naming,
  });
  await retention.run(end.signal);
  return { delays, warnings: retention.warnings(), component };
}

test('removes old records in batches, with a pause in which others append', async () => {
  const store = await opened('batches');
  await store.append(issuedBatch(0, 450), { naming, now: NOW });
  await store.append([appending(issuedRecord(450))], { naming, now: NOW + 39 * DAY });
  let next = 500;
  const between = (): Promise<unknown> => {
    next += 1;
    return store.append(issuedBatch(next, next + 1), { naming, now: NOW + 40 * DAY });
  };
  const { delays, component } = await run(store, { between });
  assert.deepEqual(delays.slice(0, -1), [100, 100]);
  const report = await store.verify([]);
  assert.deepEqual([report.findings, report.erased.retention], [[], 450]);
  // The young one, three that were appended meanwhile, and one for each batch.
  assert.equal(report.records, 1 + 3 + 3);
  assert.equal(component.counted.filter(([name]) => name === 'erased').length, 3);
});

/** Records of the certificates `from` to `to` of a signer, and what became of the first. */
function ofSigner(name: string, from: number, to: number): Parameters<LedgerStore['append']>[0] {
  const records = Array.from({ length: to - from }, (_, at) =>
    appending(issuedRecord(from + at, { signer: { name } })),
  );
  return [...records, appending(resultRecord(from))];
}

test('keeps records as long as a ClusterSigner’s certificates live, and reports it', async () => {
  const store = await opened('short');
  await store.append(ofSigner('example.com/workload', 0, 5), { naming, now: NOW });
  await store.append(ofSigner('example.com/other', 10, 15), { naming, now: NOW });
  const signers = [signerOf('961h'), signerOf('24h', 'example.com/other')];
  const { warnings } = await run(store, { signers });
  const report = await store.verify([]);
  assert.deepEqual([report.findings, report.erased.retention], [[], 6]);
  assert.match(
    warnings[0] ?? '',
    /--retention is 720h, and certificates of signer workload live for 961h: the ledger keeps its records that long; write at least that/,
  );
  const { warnings: none } = await run(store, { signers: [signerOf('720h')] });
  assert.deepEqual([none, (await store.verify([])).erased.retention], [[], 12]);
});

test('a namespace’s Signer keeps its own records longer, and no other signer’s', async () => {
  const store = await opened('tenant');
  const name = 'signers.countersign.dev/team-a.long';
  // More than one transaction removes: those that stay do not stop those behind them.
  await store.append(ofSigner(name, 0, 250), { naming, now: NOW });
  await store.append(ofSigner('example.com/workload', 300, 310), { naming, now: NOW });
  const signers = [signerOf('87600h', name, 'team-a'), signerOf('24h')];
  const { warnings } = await run(store, { signers });
  const report = await store.verify([]);
  assert.deepEqual([report.findings, report.erased.retention, warnings], [[], 11, []]);
});

test('nothing is removed while the signers are not known, nor without a retention', async () => {
  const store = await opened('unknown');
  await store.append(issuedBatch(0, 5), { naming, now: NOW });
  const component = recordedComponent({ clock: () => NOW + 9_999 * DAY });
  for (const [seconds, signers] of [
    [86_400, undefined],
    [undefined, []],
  ] as const) {
    const end = new AbortController();
    const delay = (): Promise<void> => {
      end.abort();
      return Promise.resolve();
    };
    const init = { component: { ...component, delay }, store, seconds };
    await createRemoval({ ...init, signers: () => signers, naming: () => naming }).run(end.signal);
  }
  assert.equal((await store.verify([])).records, 5);
});
