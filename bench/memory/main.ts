// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-memory`: what our pcr-issuer grows by for each finished request, against
 * client-node's informer; whether it drifts; and whether others' requests cost it anything. ARGS:
 * `--objects 50000 --settle 20 --issuances 100000 --foreign 100000 --requests 3000 --rounds 3`.
 */
import { startContender } from '../cluster/contender-process.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { startBenchCluster } from '../cluster/start.ts';
import { contenders } from '../drain/baselines.ts';
import type { Drain } from '../drain/measure-drain.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { medians, rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios, printRound } from '../measure/table.ts';
import { isDisturbed } from '../measure/undisturbed.ts';
import { newStubs } from '../requests/backlog.ts';
import { measureDrift, type Drift } from './drift.ts';
import { measureFinished, type Finished } from './finished.ts';
import { measureForeign } from './foreign.ts';

const { results, ...sizes } = readArguments({
  /** Finished requests that stay. */
  objects: { default: 50_000, least: 10 },
  /** Seconds of standstill before each reading of memory. */
  settle: { default: 20, least: 1 },
  issuances: { default: 100_000, least: 20 },
  foreign: { default: 100_000, least: 1 },
  /** Of the drains beside others' requests and without them. */
  requests: { default: 3000, least: 2 },
  rounds: { default: 3, least: 1 },
});
const STUBS = 1_000;

endOnSignals();
const bench = await startBenchCluster(console.log);
try {
  const stubs = newStubs(Math.min(STUBS, sizes.objects));
  const { finished, drift } = await ofOneProcess();
  const chosen = ['countersign', 'status-writer'];
  const all = (await contenders(bench.cluster)).filter(({ name }) => chosen.includes(name));
  const { beside, without, events } = await measureForeign(bench, {
    contenders: all,
    stubs,
    requests: sizes.requests,
    rounds: sizes.rounds,
    foreign: sizes.foreign,
  });
  const rate = (of: ReadonlyMap<string, readonly Drain[]>, name: string): number =>
    median((of.get(name) ?? []).map(({ certificatesPerSecond }) => certificatesPerSecond));
  const share = (name: string): number => rounded(rate(beside, name) / rate(without, name));
  const ratios = {
    rss_per_finished_vs_informer: rounded(
      finished.countersign.bytesAnObject / finished.informer.bytesAnObject,
    ),
    rss_drift: rounded(drift.lastQuarterMiB / drift.secondQuarterMiB - 1),
    foreign_events: events,
    foreign_throughput: share('countersign'),
    foreign_throughput_of_limit: share('status-writer'),
    foreign_throughput_calibrated: rounded(share('countersign') / share('status-writer')),
  };
  printRatios(ratios);
  const drains = [...beside.values(), ...without.values()].flat();
  writeResults(results, 'memory', {
    ratios,
    figures: {
      ...sizes,
      disturbed: drains.filter(isDisturbed).length,
      finished: {
        countersign: medians([finished.countersign]),
        informer: medians([finished.informer]),
      },
      drift: { countersign: medians([drift]) },
      throughput: Object.fromEntries(
        chosen.flatMap((name) => [
          [name, medians(without.get(name) ?? [])],
          [`${name} beside others`, medians(beside.get(name) ?? [])],
        ]),
      ),
    },
    machine: readMachine(bench.kubernetes),
  });

  /** One process for both: it is warm, and has held much, when its drift is looked at. */
  async function ofOneProcess(): Promise<{ finished: Finished; drift: Drift }> {
    const program = await countersign(bench.cluster, 'pcr-issuer');
    const ours = await startContender(program, bench.cluster.directory);
    try {
      const finished = await measureFinished(bench, ours, { ...sizes, stubs });
      printRound(1, WORKLOAD.signerName, finished.countersign);
      printRound(1, 'informer', finished.informer);
      const drift = await measureDrift(bench, ours, { ...sizes, stubs });
      printRound(1, 'drift', drift);
      return { finished, drift };
    } finally {
      await ours.stop();
    }
  }
} finally {
  await bench.stop();
}
