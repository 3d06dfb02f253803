// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-library`: a backlog of PodCertificateRequests, drained by our pcr-issuer and by
 * examples/key-on-disk.ts, which is what a program on the library is, in turns on one cluster with
 * one CA. ARGS: `--requests 3000 --rounds 5`.
 */
import { startBenchCluster } from '../cluster/start.ts';
import type { Contender } from '../cluster/contender.ts';
import { drainBacklog, type Drain } from '../drain/measure-drain.ts';
import { printDrain } from '../drain/table.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { medianRatio, medians } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios } from '../measure/table.ts';
import { inTurns } from '../measure/turns.ts';
import { isDisturbed, leastDisturbed } from '../measure/undisturbed.ts';
import { newStubs } from '../requests/backlog.ts';
import { libraryContenders, type LibraryContenderName } from './baselines.ts';

/**
 * Just-in-time compilers are at work in the first thousand; a process is as cold in each turn for
 * both.
 */
const WARM_UP_REQUESTS = 300;

const { requests, rounds, results } = readArguments({
  requests: { default: 3000, least: 2 },
  rounds: { default: 5, least: 1 },
});

endOnSignals();
const bench = await startBenchCluster(console.log);
try {
  const all = await libraryContenders(bench.cluster);
  const stubs = newStubs(requests);
  const drain = (contender: Contender, size: number): Promise<Drain> =>
    drainBacklog(bench, contender, stubs.slice(0, size));
  for (const contender of all) await drain(contender, Math.min(requests, WARM_UP_REQUESTS));
  const drains = new Map<string, Drain[]>(all.map(({ name }) => [name, []]));
  for (const [round, turn] of inTurns(all, rounds).entries()) {
    for (const contender of turn) {
      const drained = await leastDisturbed(() => drain(contender, requests));
      drains.get(contender.name)?.push(drained);
      printDrain(round + 1, contender.name, drained);
    }
  }
  const of = (name: LibraryContenderName, field: keyof Drain): readonly number[] =>
    (drains.get(name) ?? []).map((each) => each[field]);
  const ratio = (field: keyof Drain): number =>
    medianRatio(of('library', field), of('built-in', field));
  const ratios = {
    library_vs_builtin: ratio('certificatesPerSecond'),
    library_cpu_vs_builtin: ratio('contenderCpu'),
  };
  printRatios(ratios);
  writeResults(results, 'library', {
    ratios,
    figures: {
      requests,
      rounds,
      disturbed: [...drains.values()].flat().filter(isDisturbed).length,
      ...Object.fromEntries([...drains].map(([name, each]) => [name, medians(each)])),
    },
    machine: readMachine(bench.kubernetes),
  });
} finally {
  await bench.stop();
}
