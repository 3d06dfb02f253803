// SPDX-License-Identifier: Apache-2.0
/** What a full ledger takes: to append, to search by each thing, to verify, to be opened. */
import { statSync } from 'node:fs';
import type { RecordQuery } from '#ledger/store/index-scan.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { Dice } from '../../test/oracle/dice.ts';
import {
  CA,
  namespaceOf,
  NOW,
  podCertificate,
  serialOf,
  uriOf,
} from '../../test/support/ledger/records.ts';
import { percentile } from '../measure/percentile.ts';
import { memoryOf } from '../measure/process-memory.ts';
import { medians, rounded } from '../measure/ratios.ts';
import { openAgain, personOf, recordsBetween, type FilledLedger } from './fill.ts';

/** Of a page, as the command line asks for it. */
const LIMIT = 50;
const MINUTE = 60_000;

/** Times of one kind of call. */
export interface CallTimes {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** What the store takes. */
export interface StoreFigures {
  readonly bytesPerRecord: number;
  readonly appendedPerSecond: number;
  readonly verifiedPerSecond: number;
  /** The same over its CPU time: what it would be on a core of its own. */
  readonly verifiedPerCpuSecond: number;
  readonly openMs: number;
  readonly peakMiB: number;
}

function timesOf(taken: readonly number[]): CallTimes {
  const of = (share: number): number => rounded(percentile(taken, share));
  return { p50Ms: of(0.5), p95Ms: of(0.95), p99Ms: of(0.99) };
}

/** Batches that components send, one after the other, each on disk before the next. */
export async function measureAppends(
  { store, naming }: FilledLedger,
  { batch, batches }: { readonly batch: number; readonly batches: number },
): Promise<{ readonly perSecond: number; readonly batches: CallTimes }> {
  const from = (await store.logs()).reduce((sum, { size }) => sum + size, 0);
  const taken: number[] = [];
  for (let done = 0; done < batches; done += 1) {
    const first = from + done * batch;
    const records = recordsBetween(first, first + batch);
    const began = performance.now();
    await store.append(records, { naming, now: NOW + first });
    taken.push(performance.now() - began);
  }
  const milliseconds = taken.reduce((sum, each) => sum + each, 0);
  return { perSecond: rounded((batch * batches) / (milliseconds / 1000)), batches: timesOf(taken) };
}

type Asked = (n: number) => Partial<RecordQuery>;

const one =
  (kind: RecordQuery['terms'][number]['kind'], value: (n: number) => string): Asked =>
  (n) => ({ terms: [{ kind, value: value(n) }] });
const podOf = (n: number): number => (personOf(n) === undefined ? n : n - 1);

const QUERIES: Readonly<Record<string, Asked>> = {
  serial: one('serial', serialOf),
  fingerprint: one('fingerprint', (n) => fingerprint(podCertificate(n))),
  san: one('san', (n) => `pod-${n}.example.com`),
  spiffe: one('san', uriOf),
  pod: one('pod', (n) => `${namespaceOf(podOf(n))}/pod-${podOf(n)}`),
  podUid: one('podUid', (n) => `pod-uid-${podOf(n)}`),
  serviceAccount: one('serviceAccount', (n) => `${namespaceOf(podOf(n))}/web-${podOf(n)}`),
  user: one('user', (n) => personOf(n - (n % 10) + 9) ?? ''),
  node: one('node', (n) => `node-${n % 7}`),
  namespace: one('namespace', (n) => namespaceOf(podOf(n))),
  signer: one('signer', () => 'example.com/workload'),
  ca: one('ca', () => CA),
  rule: one('rule', () => 'allow'),
  time: (n) => ({ since: NOW + n, until: NOW + n + 1000 }),
  expiresIn: (n) => ({ expiresAfter: NOW + n * MINUTE, expiresBefore: NOW + (n + 30) * MINUTE }),
  nodeAndNamespace: (n) => ({
    terms: [
      { kind: 'node', value: `node-${podOf(n) % 7}` },
      { kind: 'namespace', value: namespaceOf(podOf(n)) },
    ],
  }),
  signerAndTime: (n) => ({
    terms: [{ kind: 'signer', value: 'example.com/workload' }],
    since: NOW + n,
    until: NOW + n + 1000,
  }),
};

/** A page of each query, of records that the dice choose. */
export async function measureSearches(
  { store }: FilledLedger,
  { records, searches }: { readonly records: number; readonly searches: number },
): Promise<Readonly<Record<string, CallTimes>>> {
  const dice = new Dice(1);
  const measured: Record<string, CallTimes> = {};
  for (const [name, asked] of Object.entries(QUERIES)) {
    const taken: number[] = [];
    for (let number = 0; number < searches; number += 1) {
      const query = { terms: [], limit: LIMIT, ...asked(dice.roll(records)) };
      const began = performance.now();
      const found = await store.find(query);
      taken.push(performance.now() - began);
      if (found.records.length === 0) throw new Error(`${name} finds nothing`);
    }
    measured[name] = timesOf(taken);
    console.log(`search ${name.padEnd(16)} ${JSON.stringify(measured[name])}`);
  }
  return measured;
}

/** Checks everything so many times, and opens the ledger as often. */
export async function measureVerify(
  { store, path }: FilledLedger,
  rounds: number,
): Promise<Omit<StoreFigures, 'appendedPerSecond'>> {
  const measured: Pick<StoreFigures, 'verifiedPerSecond' | 'verifiedPerCpuSecond' | 'openMs'>[] =
    [];
  let records = 0;
  for (let round = 0; round < rounds; round += 1) {
    const openMs = await openAgain(path);
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    const report = await store.verify([]);
    const [elapsed, spent] = [performance.now() - began, process.cpuUsage(cpu)];
    if (report.found > 0) throw new Error(JSON.stringify(report));
    ({ records } = report);
    const verifiedPerSecond = records / (elapsed / 1000);
    const verifiedPerCpuSecond = records / ((spent.user + spent.system) / 1e6);
    measured.push({ verifiedPerSecond, verifiedPerCpuSecond, openMs });
    console.log(`verify ${JSON.stringify(measured.at(-1))}`);
  }
  // What is in the WAL is in the file then.
  await store.scrub();
  const peak = memoryOf(process.pid)?.peak ?? NaN;
  return {
    ...medians(measured),
    bytesPerRecord: rounded(statSync(path).size / records),
    peakMiB: rounded(peak / 2 ** 20),
  };
}
