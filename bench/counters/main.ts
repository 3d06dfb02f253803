// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-counters` measures what a certificate takes of processor, threads and kernel in a
 * drain on a cluster, and in the same process warm and alone, in turns. Then it measures the pauses
 * of the event loop in as many drains, and takes the stacks of one more. ARGS:
 * `--requests 5000 --rounds 3`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podFlags } from '../../test/support/cluster/entrypoint-flags.ts';
import type { Contender } from '../cluster/contender.ts';
import { countersign, WORKLOAD } from '../cluster/ours.ts';
import { BUNDLE, startBenchCluster } from '../cluster/start.ts';
import { drainBacklog } from '../drain/measure-drain.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { medianRatio, medians, rounded } from '../measure/ratios.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios, printRound } from '../measure/table.ts';
import { countersEach, readCounters, type Counters } from '../measure/thread-counters.ts';
import { inTurns } from '../measure/turns.ts';
import { COLD, measurePath } from '../path/measure-path.ts';
import { newStubs } from '../requests/backlog.ts';
import { foldStacks, STACKS, type CpuProfile } from './fold-stacks.ts';
import { readLongestPause, withPauses } from './pauses.ts';

const { requests, rounds, results } = readArguments({
  requests: { default: 5000, least: 2 },
  rounds: { default: 3, least: 1 },
});
/** Fills caches and connections of the API server; not counted. */
const WARM_UP_REQUESTS = 300;

endOnSignals();
const directory = mkdtempSync(join(tmpdir(), 'bench-counters-'));
const bench = await startBenchCluster(console.log);
try {
  const stubs = newStubs(requests);
  const program = await countersign(bench.cluster, 'pcr-issuer');
  const ours: Contender = { ...program, ...WORKLOAD, name: 'countersign' };
  const drain = async (contender: Contender, size: number): Promise<Counters> => {
    const readings: Counters[] = [];
    const read = (pid: number): void => {
      readings.push(readCounters(pid));
    };
    await drainBacklog(bench, contender, stubs.slice(0, size), { first: read, last: read });
    const [first, last] = readings;
    if (first === undefined || last === undefined) throw new Error('the drain was not read');
    return countersEach(first, last, size - 1);
  };
  const warm = async (): Promise<Counters> => {
    await untilQuiet(bench.cluster);
    const init = { bundle: BUNDLE, requests: requests + COLD, flags: podFlags(), directory };
    const { cold, last } = await measurePath(init, readCounters);
    return countersEach(cold, last, requests);
  };
  const longestPause = async (round: number): Promise<number> => {
    const file = join(directory, `pause-${round}`);
    const signal = (pid: number): void => {
      process.kill(pid, 'SIGUSR2');
    };
    await drainBacklog(bench, withPauses(ours, file), stubs, { first: signal, last: signal });
    return readLongestPause(file);
  };
  await drain(ours, Math.min(requests, WARM_UP_REQUESTS));
  const arms = { drain: () => drain(ours, requests), warm } as const;
  const measured: Record<keyof typeof arms, Counters[]> = { drain: [], warm: [] };
  for (const [round, turn] of inTurns(['drain', 'warm'] as const, rounds).entries()) {
    for (const arm of turn) {
      const counters = await arms[arm]();
      measured[arm].push(counters);
      printRound(round + 1, arm, counters);
    }
  }
  const pauses: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    pauses.push(await longestPause(round));
    printRound(round, 'longest pause', { milliseconds: pauses.at(-1) ?? NaN });
  }
  const [node, ...rest] = program.command;
  const profiled = [node, '--cpu-prof', `--cpu-prof-dir=${directory}`, ...rest] as const;
  await drain({ ...ours, command: profiled }, requests);
  writeFileSync(join(results, STACKS), foldStacks(readProfile(directory)));
  const cpu = (arm: keyof typeof arms): number[] => measured[arm].map((each) => each.cpu);
  const ratios = {
    drain_vs_warm: medianRatio(cpu('drain'), cpu('warm')),
    longest_pause_ms: rounded(median(pauses)),
  };
  printRatios(ratios);
  writeResults(results, 'counters', {
    ratios,
    figures: { requests, rounds, drain: medians(measured.drain), warm: medians(measured.warm) },
    machine: readMachine(bench.kubernetes),
  });
} finally {
  await bench.stop();
  rmSync(directory, { recursive: true });
}

function readProfile(folder: string): CpuProfile {
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('the process wrote no profile');
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
}
