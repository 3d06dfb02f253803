// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-ledger`: a ledger in SQLite, filled with records, then searched by each thing that is known of them, and
 * verified. It prints what it measured and writes no results: no signer appends to a ledger yet.
 * ARGS: `--records 1000000 --batch 50 --searches 200`.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkerStore } from '../../src/ledger/store/worker-store.ts';
import type { LedgerStore } from '../../src/ledger/store/store.ts';
import type { RecordQuery } from '../../src/ledger/store/walk.ts';
import { Dice } from '../../test/oracle/dice.ts';
import {
  CA,
  issuedBatch,
  namespaceOf,
  naming,
  NOW,
  serialOf,
  uriOf,
} from '../../test/support/ledger/records.ts';
import { readArguments } from '../measure/arguments.ts';
import { percentile } from '../measure/percentile.ts';
import { rounded } from '../measure/ratios.ts';

const { records, batch, searches } = readArguments({
  records: { default: 1_000_000, least: 1 },
  batch: { default: 50, least: 1 },
  searches: { default: 200, least: 1 },
});
/** Of a page, as the command line asks for it. */
const LIMIT = 50;

const directory = mkdtempSync(join(tmpdir(), 'bench-ledger-'));
const path = join(directory, 'ledger.db');
const worker = new URL('../../src/ledger/store/worker.ts', import.meta.url);
try {
  const store = await openWorkerStore(path, worker);
  await fill(store);
  await search(store);
  await verify(store);
  await store.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function say(what: string, figures: Readonly<Record<string, number>>): void {
  const all = Object.entries(figures).map(([name, value]) => `${name} ${rounded(value)}`);
  console.log(`${what.padEnd(20)}  ${all.join('  ')}`);
}

async function fill(store: LedgerStore): Promise<void> {
  let milliseconds = 0;
  const each: number[] = [];
  for (let from = 0; from < records; from += batch) {
    const appended = issuedBatch(from, Math.min(from + batch, records));
    const began = performance.now();
    await store.append(appended, { naming, now: NOW + from });
    each.push(performance.now() - began);
    milliseconds += each.at(-1) ?? 0;
  }
  say('append', {
    recordsPerSecond: records / (milliseconds / 1000),
    batchP50Ms: percentile(each, 0.5),
    batchP99Ms: percentile(each, 0.99),
    bytesPerRecord: statSync(path).size / records,
  });
}

async function search(store: LedgerStore): Promise<void> {
  const dice = new Dice(1);
  const queries: Readonly<Record<string, (n: number) => Partial<RecordQuery>>> = {
    serial: (n) => ({ terms: [{ kind: 'serial', value: serialOf(n) }] }),
    san: (n) => ({ terms: [{ kind: 'san', value: uriOf(n) }] }),
    pod: (n) => ({ terms: [{ kind: 'pod', value: `${namespaceOf(n)}/pod-${n}` }] }),
    podUid: (n) => ({ terms: [{ kind: 'podUid', value: `pod-uid-${n}` }] }),
    node: (n) => ({ terms: [{ kind: 'node', value: `node-${n % 7}` }] }),
    namespace: (n) => ({ terms: [{ kind: 'namespace', value: namespaceOf(n) }] }),
    ca: () => ({ terms: [{ kind: 'ca', value: CA }] }),
    signer: () => ({ terms: [{ kind: 'signer', value: 'example.com/workload' }] }),
    nodeAndNamespace: (n) => ({
      terms: [
        { kind: 'node', value: `node-${n % 7}` },
        { kind: 'namespace', value: namespaceOf(n) },
      ],
    }),
    signerSince: (n) => ({
      terms: [{ kind: 'signer', value: 'example.com/workload' }],
      since: NOW + n,
      until: NOW + n + 1000,
    }),
    expiry: (n) => ({ expiresAfter: NOW + n * 60_000, expiresBefore: NOW + (n + 30) * 60_000 }),
  };
  for (const [name, query] of Object.entries(queries)) {
    const taken: number[] = [];
    for (let number = 0; number < searches; number += 1) {
      const asked = { terms: [], limit: LIMIT, ...query(dice.roll(records)) };
      const began = performance.now();
      const found = await store.find(asked);
      taken.push(performance.now() - began);
      if (found.records.length === 0) throw new Error(`${name} finds nothing`);
    }
    say(`search ${name}`, { p50Ms: percentile(taken, 0.5), p95Ms: percentile(taken, 0.95) });
  }
}

async function verify(store: LedgerStore): Promise<void> {
  const began = performance.now();
  const report = await store.verify([]);
  if (report.found > 0 || report.records !== records) throw new Error(JSON.stringify(report));
  say('verify', { recordsPerSecond: records / ((performance.now() - began) / 1000) });
}
