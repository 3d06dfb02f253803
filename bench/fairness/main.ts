// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-fairness`: how much longer a tenant with one request a second waits for its answers
 * beside a tenant that writes requests, CSRs and Signers as fast as the API server takes them.
 * ARGS: `--seconds 60 --warm-up 5 --rounds 3 --own-core 1`: with the last, `pcr-issuer` and the
 * echo have a core that nothing else takes, as a Pod with a CPU request has.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ComponentName } from '../../test/support/cluster/component-process.ts';
import { example } from '../../test/support/cluster/fixture.ts';
import {
  HOSTILE,
  POD_REQUESTS,
  VICTIM,
  prepareTenants,
  tenantsAreReady,
} from '../../test/support/cluster/hostile-tenant.ts';
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import { ECHO, startEcho } from '../cluster/echo.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { startBenchCluster, withApiServerFlags } from '../cluster/start.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { percentile } from '../measure/percentile.ts';
import { pin } from '../measure/pin.ts';
import { measureRunDelays } from '../measure/run-delay.ts';
import { medianRatio, rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios } from '../measure/table.ts';
import { newStubs } from '../requests/backlog.ts';
import { removeAll } from '../requests/remove-all.ts';
import { AUDIT_POLICY, eventsWritten, measureVictim, type VictimTurn } from './victim.ts';

const sizes = readArguments({
  /** Seconds, and so requests, of each turn that are counted. */
  seconds: { default: 60, least: 2 },
  'warm-up': { default: 5, least: 1 },
  rounds: { default: 3, least: 1 },
  'own-core': { default: 0, least: 0 },
});

const OURS = ['authority', 'approver', 'signer', 'pcr-issuer'] as const;
const FLAGS = ['--lease-namespace', SYSTEM_NAMESPACE, '--namespaced-signers'];
const MEASURED = ['ours', 'echo', 'echoAnswer'] as const;
type Measured = (typeof MEASURED)[number];
const OTHERS_CORE = '0';
const MEASURED_CORE = '1';
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

endOnSignals();
// Before anything is started: children inherit it.
if (sizes['own-core'] > 0) pin(process.pid, OTHERS_CORE);
const auditPolicy = join(mkdtempSync(join(tmpdir(), 'countersign-fairness-')), 'audit.json');
writeFileSync(auditPolicy, JSON.stringify(AUDIT_POLICY));
const signers = [example('workload'), example('people')];
const bench = await startBenchCluster(console.log, signers, {
  ...withApiServerFlags(`--audit-policy-file=${auditPolicy}`),
  audit: true,
});
const { cluster, client } = bench;
const running: ContenderProcess[] = [];
try {
  const [stub = ''] = newStubs(1);
  await prepareTenants(cluster);
  for (const name of OURS) running.push(await startOurs(name));
  running.push(await startEcho(cluster, [stub]));
  const [, , , issuer, echo] = running;
  if (sizes['own-core'] > 0) for (const each of [issuer, echo]) pin(each?.pid ?? 0, MEASURED_CORE);
  const waiting = [
    { pid: issuer?.pid ?? 0, threads: 'first' },
    { pid: echo?.pid ?? 0, threads: 'first' },
    { pid: cluster.apiServer.pid ?? 0, threads: 'all' },
  ] as const;
  await tenantsAreReady(cluster);
  const quiet: VictimTurn[] = [];
  const busy: VictimTurn[] = [];
  const coreWaits = { quiet: [] as (readonly number[])[], beside: [] as (readonly number[])[] };
  let floods = 0;
  for (let round = 0; round < sizes.rounds; round++) {
    const aloneWaits = measureRunDelays(waiting);
    quiet.push(await turn(`quiet-${round}`, stub));
    coreWaits.quiet.push(aloneWaits());
    const tenant = await startContender(
      {
        name: `flood-${round}`,
        command: [process.execPath, join(import.meta.dirname, 'flood.ts'), cluster.kubeconfig],
      },
      cluster.directory,
    );
    const besideWaits = measureRunDelays(waiting);
    busy.push(await turn(`busy-${round}`, stub));
    coreWaits.beside.push(besideWaits());
    await tenant.stop();
    floods += await hostileRequests();
    await cleanUp();
    const [before, beside] = [quiet.at(-1), busy.at(-1)].map(
      (each) => `${p99(each?.ours ?? []).toFixed(1)} (echo ${p99(each?.echo ?? []).toFixed(1)})`,
    );
    console.log(`round ${round + 1}: ${before} ms quiet, ${beside} ms beside`);
  }
  const refused = busy.flatMap((each) => each.refused);
  const written = await eventsWritten(bench, refused);
  const of = (turns: readonly VictimTurn[], which: Measured): number[] =>
    turns.map((each) => p99(each[which]));
  const ratios = {
    p99_beside_hostile: medianRatio(of(busy, 'ours'), of(quiet, 'ours')),
    p99_beside_hostile_of_echo: medianRatio(of(busy, 'echo'), of(quiet, 'echo')),
    victim_events: rounded(written / refused.length),
  };
  printRatios(ratios);
  const row = (turns: readonly VictimTurn[]): object =>
    Object.fromEntries(
      MEASURED.map((which) => [
        which,
        {
          p50: rounded(median(turns.map((each) => percentile(each[which], 0.5)))),
          p99: rounded(median(of(turns, which))),
        },
      ]),
    );
  writeResults(sizes.results, 'fairness', {
    ratios,
    figures: {
      seconds: sizes.seconds,
      rounds: sizes.rounds,
      ownCore: sizes['own-core'] > 0,
      quiet: row(quiet),
      beside: row(busy),
      coreWaits: { quiet: medians(coreWaits.quiet), beside: medians(coreWaits.beside) },
      hostileRequestsPerSecond: rounded(floods / sizes.rounds / (sizes.seconds + sizes['warm-up'])),
      refused: refused.length,
      events: written,
    },
    machine: readMachine(bench.kubernetes),
  });
} finally {
  await Promise.all(running.map((each) => each.stop()));
  await bench.stop();
}

/** Milliseconds of a second for which threads wait for a core: medians of the rounds. */
function medians(waits: readonly (readonly number[])[]): object {
  const of = (index: number): number => rounded(median(waits.map((each) => each[index] ?? 0)));
  return { pcrIssuer: of(0), echo: of(1), apiServer: of(2) };
}

function p99(values: readonly number[]): number {
  return percentile(values, 0.99);
}

async function turn(name: string, stub: string): Promise<VictimTurn> {
  return measureVictim(bench, {
    ours: WORKLOAD.signerName,
    echo: ECHO,
    stub,
    turn: name,
    seconds: sizes.seconds,
    warmUpSeconds: sizes['warm-up'],
  });
}

/** How many requests for pods the hostile tenant has now. */
async function hostileRequests(): Promise<number> {
  const { metadata, items } = await client.request<{
    readonly metadata: { readonly remainingItemCount?: number };
    readonly items: readonly unknown[];
  }>({ method: 'GET', path: POD_REQUESTS.collection(HOSTILE), query: { limit: 1 } });
  return items.length + (metadata.remainingItemCount ?? 0);
}

async function cleanUp(): Promise<void> {
  for (const namespace of [HOSTILE, VICTIM]) {
    await removeAll(client, POD_REQUESTS.collection(namespace));
  }
  await removeAll(client, CSRS);
}

async function startOurs(name: ComponentName): Promise<ContenderProcess> {
  const { command } = await countersign(cluster, name, FLAGS);
  return startContender({ name, command }, cluster.directory);
}
