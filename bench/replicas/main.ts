// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-replicas`: drains by one replica of our pcr-issuer and by two of them, in turns; then
 * how long a killed one's share waits. ARGS:
 * `--requests 3000 --rounds 3 --lease-seconds 15 --takeovers 3`.
 */
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { startBenchCluster } from '../cluster/start.ts';
import type { Drain } from '../drain/measure-drain.ts';
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
import { shareBacklog } from './share-backlog.ts';
import { measureTakeover, type Takeover } from './takeover.ts';

const sizes = readArguments({
  requests: { default: 3000, least: 2 },
  rounds: { default: 3, least: 1 },
  /** As shipped. */
  'lease-seconds': { default: 15, least: 3 },
  takeovers: { default: 3, least: 1 },
});
const { requests, rounds, takeovers, results } = sizes;
const leaseSeconds = sizes['lease-seconds'];
/** Made once a replica was killed: that none of them is of its share happens once in 2⁶⁴. */
const TAKEN_OVER = 64;
/** Fills caches and connections of the API server; not counted. */
const WARM_UP_REQUESTS = 300;

endOnSignals();
const bench = await startBenchCluster(console.log);
try {
  const { signerName } = WORKLOAD;
  const program = await countersign(bench.cluster, 'pcr-issuer', [
    '--lease-namespace',
    SYSTEM_NAMESPACE,
    '--lease-duration',
    `${leaseSeconds}s`,
  ]);
  const stubs = newStubs(Math.max(requests, TAKEN_OVER));
  const share = (replicas: number, size: number): Promise<Drain> =>
    shareBacklog(bench, { program, replicas, stubs: stubs.slice(0, size) });
  for (const replicas of [1, 2]) await share(replicas, Math.min(requests, WARM_UP_REQUESTS));
  const turns = ['one', 'two'].map((name, index) => ({
    name,
    measure: () => share(index + 1, requests),
  }));
  const drains = await runRounds(turns, rounds);
  const taken: Takeover[] = [];
  for (let count = 0; count < takeovers; count++) {
    const init = { program, signerName, stubs: stubs.slice(0, TAKEN_OVER) };
    taken.push(await measureTakeover(bench, init));
  }
  const rates = (name: string): number[] =>
    (drains.get(name) ?? []).map((each) => each.certificatesPerSecond);
  const seconds = (field: keyof Takeover): number => rounded(median(taken.map((t) => t[field])));
  const ratios = {
    two_vs_one: medianRatio(rates('two'), rates('one')),
    takeover_s: seconds('first'),
    takeover_last_s: seconds('last'),
    others_s: seconds('others'),
  };
  printRatios(ratios);
  writeResults(results, 'replicas', {
    ratios,
    figures: {
      requests,
      rounds,
      leaseSeconds,
      takeovers,
      disturbed: [...drains.values()].flat().filter(isDisturbed).length,
      one: medians(drains.get('one') ?? []),
      two: medians(drains.get('two') ?? []),
    },
    machine: readMachine(bench.kubernetes),
  });
} finally {
  await bench.stop();
}
