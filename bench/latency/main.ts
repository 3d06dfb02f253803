// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-latency`: from creation to certificate under an open loop, at a share of the rate of
 * a bare status writer, of our pcr-issuer and of a bare echo; the same at two smaller shares, which
 * two cores bear, and of processes that have just started; then the first request after a pause.
 * ARGS: `--writes 3000 --seconds 30 --warm-up 5 --share 50 --calm 20 --light 5 --rounds 3`,
 * `--idle 300 --pauses 3`.
 */
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import { ECHO, startEcho } from '../cluster/echo.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { startBenchCluster } from '../cluster/start.ts';
import { contenders } from '../drain/baselines.ts';
import { drainBacklog } from '../drain/measure-drain.ts';
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { medianRatio, medians, rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { runRounds } from '../measure/rounds.ts';
import { printRatios } from '../measure/table.ts';
import { isDisturbed } from '../measure/undisturbed.ts';
import { newStubs } from '../requests/backlog.ts';
import { arrivals } from './arrivals.ts';
import { openLoop, type Latency } from './open-loop.ts';
import { quietBusy } from './quiet-busy.ts';

const sizes = readArguments({
  /** Of the bare status writer's backlog, whose rate is the measure of the load. */
  writes: { default: 3000, least: 2 },
  seconds: { default: 30, least: 1 },
  /** Seconds at the beginning of each turn that are not counted. */
  'warm-up': { default: 5, least: 1 },
  /** Of that rate, percent. */
  share: { default: 50, least: 1 },
  /** The same of smaller loads. */
  calm: { default: 20, least: 1 },
  light: { default: 5, least: 1 },
  rounds: { default: 3, least: 1 },
  /** Seconds of each pause. */
  idle: { default: 300, least: 1 },
  pauses: { default: 3, least: 1 },
});
type Latencies = ReadonlyMap<string, readonly Latency[]>;

const STUBS = 256;
/**
 * As in a pod, where it renews its Lease all the time: no pause is without a word to the API
 * server.
 */
const WITH_LEASES = ['--lease-namespace', SYSTEM_NAMESPACE];
/** Each contender and its signer name. */
const CONTENDERS = [
  ['countersign', WORKLOAD.signerName],
  ['echo', ECHO],
] as const;

endOnSignals();
const bench = await startBenchCluster(console.log);
const { cluster } = bench;
const running: ContenderProcess[] = [];
try {
  const stubs = newStubs(STUBS);
  const limit = await writerRate();
  console.log(`a bare writer: ${limit.toFixed(0)}/s`);
  const load = (process: ContenderProcess, signerName: string, share: number, warmUp: number) =>
    openLoop(bench, process, {
      signerName,
      stubs,
      warmUpMs: warmUp * 1000,
      arrivals: arrivals(
        { perSecond: (limit * share) / 100, seconds: warmUp + sizes.seconds },
        Math.random,
      ),
    });
  console.log('processes that have just started');
  const cold = await inTurn(async (name, signerName) => {
    const process = await start(name);
    try {
      return await load(process, signerName, sizes.calm, 0);
    } finally {
      await process.stop();
    }
  });
  const started = new Map<string, ContenderProcess>();
  for (const [name] of CONTENDERS) started.set(name, await start(name));
  const underLoad = (share: number): Promise<Latencies> => {
    console.log(`asked for: ${((limit * share) / 100).toFixed(0)}/s`);
    return inTurn((name, signerName) => {
      const process = started.get(name);
      if (process === undefined) throw new Error(`${name} was not started`);
      return load(process, signerName, share, sizes['warm-up']);
    });
  };
  const latencies = await underLoad(sizes.share);
  const calm = await underLoad(sizes.calm);
  const light = await underLoad(sizes.light);
  console.log(`${sizes.pauses} pauses of ${sizes.idle} s`);
  const signerNames = [WORKLOAD.signerName, ECHO];
  const quiet = { signerNames, stub: stubs[0] ?? '', idleSeconds: sizes.idle };
  const afterPause = await quietBusy(bench, { ...quiet, samples: sizes.pauses });
  const p99 = (of: Latencies, name: string): number[] =>
    (of.get(name) ?? []).map((each) => each.p99);
  const pause = (name: string): { quiet: number; busy: number } =>
    afterPause.get(name) ?? { quiet: NaN, busy: NaN };
  const ratios = {
    p99_vs_echo: medianRatio(p99(latencies, 'countersign'), p99(latencies, 'echo')),
    p99_ms: rounded(median(p99(latencies, 'countersign'))),
    p99_vs_echo_when_calm: medianRatio(p99(calm, 'countersign'), p99(calm, 'echo')),
    p99_ms_when_calm: rounded(median(p99(calm, 'countersign'))),
    p99_vs_echo_when_light: medianRatio(p99(light, 'countersign'), p99(light, 'echo')),
    p99_vs_echo_when_cold: medianRatio(p99(cold, 'countersign'), p99(cold, 'echo')),
    quiet_vs_busy: rounded(pause(WORKLOAD.signerName).quiet / pause(WORKLOAD.signerName).busy),
    quiet_vs_busy_of_echo: rounded(pause(ECHO).quiet / pause(ECHO).busy),
  };
  printRatios(ratios);
  const row = (name: string, signerName: string): object => ({
    ...medians(latencies.get(name) ?? []),
    oneByOne: rounded(pause(signerName).busy),
    afterPause: rounded(pause(signerName).quiet),
  });
  const { writes, seconds, share, rounds, idle, pauses } = sizes;
  const both = (of: Latencies): object =>
    Object.fromEntries(CONTENDERS.map(([name]) => [name, medians(of.get(name) ?? [])]));
  writeResults(sizes.results, 'latency', {
    ratios,
    figures: {
      writes,
      seconds,
      share,
      calm: sizes.calm,
      light: sizes.light,
      rounds,
      idle,
      pauses,
      writerPerSecond: rounded(limit),
      askedPerSecond: rounded((limit * share) / 100),
      calmPerSecond: rounded((limit * sizes.calm) / 100),
      lightPerSecond: rounded((limit * sizes.light) / 100),
      disturbed: [cold, latencies, calm, light]
        .flatMap((each) => [...each.values()].flat())
        .filter(isDisturbed).length,
      countersign: row('countersign', WORKLOAD.signerName),
      echo: row('echo', ECHO),
      [`at ${sizes.calm} %`]: both(calm),
      [`at ${sizes.light} %`]: both(light),
      [`at ${sizes.calm} %, just started`]: both(cold),
    },
    machine: readMachine(bench.kubernetes),
  });

  function inTurn(
    measure: (name: string, signerName: string) => Promise<Latency>,
  ): Promise<Latencies> {
    const turns = CONTENDERS.map(([name, signerName]) => ({
      name,
      measure: () => measure(name, signerName),
    }));
    return runRounds(turns, sizes.rounds);
  }

  async function start(name: string): Promise<ContenderProcess> {
    const process = await (name === 'echo' ? startEcho(cluster, stubs) : startOurs(name));
    running.push(process);
    return process;
  }
} finally {
  await Promise.all(running.map((each) => each.stop()));
  await bench.stop();
}

async function startOurs(name: string): Promise<ContenderProcess> {
  const { command } = await countersign(cluster, 'pcr-issuer', WITH_LEASES);
  return startContender({ name, command }, cluster.directory);
}

/** The median of as many drains as there are rounds. */
async function writerRate(): Promise<number> {
  const [writer] = (await contenders(cluster)).filter(({ name }) => name === 'status-writer');
  if (writer === undefined) throw new Error('there is no status writer');
  const stubs = newStubs(sizes.writes);
  const rates: number[] = [];
  for (let round = 0; round < sizes.rounds; round++) {
    rates.push((await drainBacklog(bench, writer, stubs)).certificatesPerSecond);
  }
  return median(rates);
}
