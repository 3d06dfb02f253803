// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-ledger-faults`: requests under the mixed faults of `make test-faults`, and faults of
 * the ledger and its database beside them. Nothing issued is missing in the ledger, and what is
 * lost is counted. ARGS: `--requests 20000`, `--seed 1`, `--mode required` or `best-effort`,
 * `--database sqlite` or `postgres`.
 */
import { parseArgs } from 'node:util';
import type { ConfigMap } from '#api/object/object.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { until } from '../../cluster/until.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { getSigner } from '../../support/cluster/fixture.ts';
import { openFaultCluster } from '../lab/cluster.ts';
import { listRequests } from '../lab/ended.ts';
import type { Wanted } from '../lab/wanted.ts';
import { flow } from '../mixed/flow.ts';
import { happen } from '../mixed/happen.ts';
import { printReport } from '../mixed/print.ts';
import { MIXED, NEW_LISTS } from '../mixed/script.ts';
import { awaitEnds, tryRequests } from '../oracle/court.ts';
import { signaturesIn } from '../oracle/signatures.ts';
import { faultsOfLedger, type LedgerEvidence } from './judge.ts';
import { openLedgerLab, RECORDING, type LedgerLab, type LedgerTrial } from './lab.ts';
import { ledgerTimetable } from './timetable.ts';

/**
 * After the last fault: what waits was told to for half a minute at most, a dead watch for 90 s.
 */
const HEALING_MS = 240_000;
const LINE_MS = 10_000;

const CHECKPOINTS = CONFIG_MAPS.object({
  namespace: SYSTEM_NAMESPACE,
  name: 'countersign-ledger-checkpoints',
});

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '20261123' },
    mode: { type: 'string', default: 'required' },
    database: { type: 'string', default: 'sqlite' },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
if (!Number.isInteger(requests) || requests < 2) throw new Error('--requests: want a whole number');
const trial: LedgerTrial = {
  mode: oneOf(values.mode, ['required', 'best-effort']),
  database: oneOf(values.database, ['sqlite', 'postgres']),
};

const cluster = await openFaultCluster((line) => console.log(line));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
let at: LedgerLab | undefined;
try {
  at = await openLedgerLab(cluster, { ...trial, seed });
  process.exitCode = (await run(at)) ? 0 : 1;
} finally {
  await at?.stop();
  await cluster.stop();
}

/** @returns whether everything held */
async function run(ledger: LedgerLab): Promise<boolean> {
  console.log(`${requests} requests, seed ${seed}, ${trial.mode}, ${trial.database}`);
  const began = performance.now();
  const { lab, relay } = ledger;
  let made = 0;
  const ticking = setInterval(() => console.log(`${made} of ${requests} made`), LINE_MS);
  lab.proxy.script.set(MIXED);
  const happened = happen(lab, ledgerTimetable(ledger), () => made / requests);
  const wanted = await flow(lab, requests, (count) => (made = count));
  clearInterval(ticking);
  await happened;
  lab.proxy.script.set(NEW_LISTS);
  lab.proxy.cut();
  await awaitEnds(lab, wanted, HEALING_MS);
  await allArrived(ledger);
  const judged = await tryRequests(lab, { wanted, auditMayMiss: true });
  printReport(lab.proxy.tally, judged, (performance.now() - began) / 1000);
  const faults = await faultsOf(ledger, wanted);
  console.log(`\nanswers of the ledger that were lost: ${relay.lost}`);
  for (const fault of faults) console.log(fault);
  console.log(faults.length === 0 ? 'the ledger holds' : `${faults.length} faults of the ledger`);
  // What has waited for the ledger for minutes is given up, and signed again
  // (src/requests/issuing/deliverable.ts).
  const mayWaste = trial.mode === 'required' || judged.wastedByRunning === 0;
  return judged.violations.length === 0 && mayWaste && faults.length === 0;
}

/** Nothing waits in memory any longer, and the last checkpoint covers all of it. */
async function allArrived({ lab, read }: LedgerLab): Promise<void> {
  for (const name of RECORDING) {
    await until(`${name} has sent what waits`, HEALING_MS, async () => {
      return (await metricOf(lab.component(name).process, 'waiting_records')) === 0;
    });
  }
  await until('a checkpoint covers each record', HEALING_MS, async () => {
    return (await read((store) => store.unsignedHeads())).length === 0;
  });
}

async function metricOf(
  process: { readonly metrics: () => Promise<string> },
  name: string,
): Promise<number | undefined> {
  const [, value] =
    new RegExp(`^countersign_ledger_${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(
      await process.metrics(),
    ) ?? [];
  return value === undefined ? undefined : Number(value);
}

async function faultsOf(ledger: LedgerLab, wanted: readonly Wanted[]): Promise<readonly string[]> {
  const { lab, mode } = ledger;
  const records = await ledger.records();
  const counts = new Map<string, number>();
  for (const { kind } of records) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  console.log(`\nrecords: ${JSON.stringify(Object.fromEntries(counts))}`);
  const of = <T>(work: (name: (typeof RECORDING)[number]) => T): Map<string, T> =>
    new Map(RECORDING.map((name) => [name, work(name)]));
  const lost = new Map<string, number>();
  for (const name of RECORDING) {
    lost.set(name, (await metricOf(lab.component(name).process, 'lost_records')) ?? NaN);
  }
  console.log(`lost: ${JSON.stringify(Object.fromEntries(lost))}`);
  const signers = await Promise.all(
    ['workload', 'people'].map((name) => getSigner(lab.cluster, name)),
  );
  const evidence: LedgerEvidence = {
    mode,
    wanted,
    records,
    lost,
    objects: await listRequests(lab.admin),
    signatures: of((name) => signaturesIn(lab.component(name).log())),
    signaturesOfRunning: signaturesIn(
      RECORDING.flatMap((name) => lab.component(name).logOfRunning()),
    ),
    refused: of((name) => refusedWrites(ledger, name)),
    authorities: signers.flatMap(({ status }) =>
      (status?.authorities ?? []).map(({ fingerprint }) => fingerprint),
    ),
  };
  return [...faultsOfLedger(evidence), ...(await faultsOfLog(ledger))];
}

/** Leaves whose write the API server has refused with 400, 403 or 422, once each. */
function refusedWrites({ lab }: LedgerLab, component: string): number {
  const refused = lab.proxy.traffic.find(
    ({ client, method, path, status = 0 }) =>
      client === component &&
      method === 'PUT' &&
      path.endsWith('/status') &&
      [400, 403, 422].includes(status),
  );
  return new Set(refused.map(({ path }) => path)).size;
}

/** What `verify` finds, beside the checkpoints that are in the cluster. */
async function faultsOfLog({ lab, read }: LedgerLab): Promise<readonly string[]> {
  const { data = {} } = await lab.admin.request<ConfigMap>({ method: 'GET', path: CHECKPOINTS });
  const published = Object.entries(data).flatMap(([name, note]) =>
    name.startsWith('log-') ? [note] : [],
  );
  const report = await read((store) => store.verify(published));
  console.log(`verify: ${report.records} records, ${published.length} published checkpoints`);
  return [
    ...(published.length === 0 ? ['no checkpoint is published'] : []),
    ...report.findings.map((finding) => `verify: ${JSON.stringify(finding)}`),
  ];
}

function oneOf<const T extends string>(text: string, all: readonly T[]): T {
  const found = all.find((each) => each === text);
  if (found === undefined) throw new Error(`${text}: want ${all.join(' or ')}`);
  return found;
}
