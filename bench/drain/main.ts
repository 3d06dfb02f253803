// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench`: drains a backlog of PodCertificateRequests with our pcr-issuer, with upstream's
 * signer with its limiter off and as shipped, and with a bare status writer, in turns on one
 * cluster. ARGS: `--requests 3000 --default-requests 100 --rounds 3`.
 */
import { createBacklog, newStubs } from '../requests/backlog.ts';
import { startBenchCluster } from '../cluster/start.ts';
import type { Contender } from '../cluster/contender.ts';
import { contenders } from './baselines.ts';
import { countCalls } from './count-calls.ts';
import { drainBacklog, type Drain } from './measure-drain.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { figuresOf, ratiosOf } from './figures.ts';
import { inTurns } from '../measure/turns.ts';
import { writeResults } from '../measure/results.ts';
import { printDrain, printTable } from './table.ts';
import { isDisturbed, leastDisturbed } from '../measure/undisturbed.ts';

/** Fills caches and connections of the API server; not counted. */
const WARM_UP_REQUESTS = 300;

const sizes = readArguments({
  requests: { default: 3000, least: 2 },
  /** Of the backlog of upstream's signer as shipped, which answers 5 a second. */
  'default-requests': { default: 100, least: 2 },
  rounds: { default: 3, least: 1 },
});
const { requests, rounds, results } = sizes;
const sizeFor = ({ name }: Contender): number =>
  name === 'upstream-default' ? Math.min(requests, sizes['default-requests']) : requests;

const cluster = await startBenchCluster((line) => console.log(line));
endOnSignals();
try {
  const all = await contenders(cluster.cluster);
  const stubs = newStubs(requests);
  const drain = (contender: Contender, size: number): Promise<Drain> =>
    drainBacklog(cluster, contender, stubs.slice(0, size));
  for (const contender of all) {
    await drain(contender, Math.min(sizeFor(contender), WARM_UP_REQUESTS));
  }
  const drains = new Map<string, Drain[]>(all.map(({ name }) => [name, []]));
  for (const [round, turn] of inTurns(all, rounds).entries()) {
    for (const contender of turn) {
      const drained = await leastDisturbed(() => drain(contender, sizeFor(contender)));
      drains.get(contender.name)?.push(drained);
      printDrain(round + 1, contender.name, drained);
    }
  }
  const figures = figuresOf(drains);
  const [ours] = all.filter(({ name }) => name === 'countersign');
  if (ours === undefined) throw new Error('nobody is ours');
  const backlog = await createBacklog(cluster, ours.signerName, stubs);
  const calls = await countCalls(cluster, ours, backlog).finally(() => backlog.remove());
  const ratios = {
    ...ratiosOf(drains),
    mutating_calls_per_certificate: callsOf(calls.mutating),
    calls_per_certificate: callsOf(calls.all),
  };
  printTable(figures, ratios);
  const disturbed = [...drains.values()].flat().filter(isDisturbed).length;
  if (disturbed > 0) {
    console.log(`\n${disturbed} drains shared the cores with something else: measure again, alone`);
  }
  const machine = readMachine(cluster.kubernetes);
  writeResults(results, 'drain', {
    ratios,
    figures: {
      requests,
      defaultRequests: sizes['default-requests'],
      rounds,
      disturbed,
      ...figures,
    },
    machine,
  });
} finally {
  await cluster.stop();
}

/** The marks are set on thousandths. */
function callsOf(perCertificate: number): number {
  return Number(perCertificate.toFixed(4));
}
