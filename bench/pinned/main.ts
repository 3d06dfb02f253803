// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-pinned`: drains, with and without a ledger, and CertificateSigningRequests, with the
 * contender on one core and the API server and etcd on another, as on machines of their own.
 * ARGS: `--requests 5000 --csrs 2000 --rounds 3`.
 */
import { startPostgres, type Postgres } from '../../test/support/ledger/postgres.ts';
import type { Contender } from '../cluster/contender.ts';
import { startBenchCluster } from '../cluster/start.ts';
import { example } from '../../test/support/cluster/fixture.ts';
import { csrContenders } from '../csr/baselines.ts';
import { measureFlow } from '../csr/measure-flow.ts';
import { newKeys, peopleSigner } from '../csr/requests.ts';
import { contenders } from '../drain/baselines.ts';
import { drainBacklog, type Drain } from '../drain/measure-drain.ts';
import { ARMS, armsOn } from '../ledger/baselines.ts';
import { applyLedger } from '../ledger/stand.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { separate } from '../measure/pin.ts';
import { medianRatio, medians } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { runRounds, type Turn } from '../measure/rounds.ts';
import { printRatios } from '../measure/table.ts';
import { isDisturbed } from '../measure/undisturbed.ts';
import { newStubs } from '../requests/backlog.ts';

const { requests, csrs, rounds, results } = readArguments({
  /** Of a drain. */
  requests: { default: 5000, least: 2 },
  csrs: { default: 2000, least: 10 },
  rounds: { default: 3, least: 1 },
});
/** Requests before a measurement that fill caches and connections. */
const WARM_UP_REQUESTS = 300;
const WRITER = 'status-writer';

/** What drains and flows have in common. CPU in microseconds a certificate. */
type Measured = Pick<Drain, 'certificatesPerSecond' | 'contenderCpu' | 'otherCores'>;

endOnSignals();
const bench = await startBenchCluster(console.log, [example('workload'), peopleSigner()]);
let together = (): void => undefined;
try {
  together = separate(bench.cluster);
  await using server = await startPostgres();
  const drains = await measureDrains(server);
  const flows = await measureFlows();
  const ratios = {
    pinned_drain_vs_limit: medianRatio(rates(drains, 'off'), rates(drains, WRITER)),
    pinned_with_ledger_vs_without: medianRatio(rates(drains, 'sqlite'), rates(drains, 'off')),
    pinned_with_postgres_vs_without: medianRatio(rates(drains, 'postgres'), rates(drains, 'off')),
    pinned_csr_vs_kcm_unlimited: medianRatio(
      rates(flows, 'countersign'),
      rates(flows, 'kcm-unlimited'),
    ),
    core_at_limit: coreAt(drains, 'off', WRITER),
    core_at_limit_with_ledger: coreAt(drains, 'sqlite', WRITER),
    core_at_limit_with_postgres: coreAt(drains, 'postgres', WRITER),
    core_at_kcm: coreAt(flows, 'countersign', 'kcm-unlimited'),
  };
  printRatios(ratios);
  const all = [...drains.values(), ...flows.values()].flat();
  writeResults(results, 'pinned', {
    ratios,
    figures: {
      requests,
      csrs,
      rounds,
      disturbed: all.filter(isDisturbed).length,
      drain: tableOf(drains),
      csr: tableOf(flows),
    },
    machine: readMachine(bench.kubernetes),
  });
} finally {
  try {
    together();
  } finally {
    await bench.stop();
  }
}

async function measureDrains(server: Postgres): Promise<ReadonlyMap<string, readonly Drain[]>> {
  await applyLedger(bench.cluster);
  const withArm = armsOn(bench, server);
  const writer = (await contenders(bench.cluster)).find(({ name }) => name === WRITER);
  if (writer === undefined) throw new Error(`${WRITER} is no contender`);
  const stubs = newStubs(requests);
  const drain = (contender: Contender, size: number): Promise<Drain> =>
    drainBacklog(bench, contender, stubs.slice(0, size));
  const turnsOf = (size: number): readonly Turn<Drain>[] => [
    { name: WRITER, measure: () => drain(writer, size) },
    ...ARMS.map((arm) => ({
      name: arm,
      measure: () => withArm(arm, (contender) => drain(contender, size)),
    })),
  ];
  for (const { measure } of turnsOf(Math.min(requests, WARM_UP_REQUESTS))) await measure();
  return runRounds(turnsOf(requests), rounds);
}

async function measureFlows(): Promise<ReadonlyMap<string, readonly Measured[]>> {
  const keys = newKeys(csrs);
  const warmUp = Math.min(csrs, WARM_UP_REQUESTS);
  const all = (await csrContenders(bench.cluster)).filter(({ name }) => name !== 'kcm-default');
  const turns = all.map((contender) => ({
    name: contender.name,
    measure: () => measureFlow(bench, contender, { keys, warmUp }),
  }));
  return runRounds(turns, rounds);
}

type Rounds = ReadonlyMap<string, readonly Measured[]>;

function rates(measured: Rounds, name: string): readonly number[] {
  return (measured.get(name) ?? []).map(({ certificatesPerSecond }) => certificatesPerSecond);
}

/**
 * Returns the share of its core that `name` takes at the rate of `other`: the median of the rounds.
 */
function coreAt(measured: Rounds, name: string, other: string): number {
  const cores = (measured.get(name) ?? []).map(({ contenderCpu }) => contenderCpu / 1e6);
  const perCertificate = rates(measured, other).map((rate) => 1 / rate);
  return medianRatio(cores, perCertificate);
}

function tableOf(measured: Rounds): object {
  return Object.fromEntries([...measured].map(([name, of]) => [name, medians(of)]));
}
