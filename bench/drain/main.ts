// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench`: drains a backlog of PodCertificateRequests with our pcr-issuer, with upstream's
 * signer, and with a bare status writer, in turns on one cluster. ARGS: `--requests 3000 --rounds 3`.
 */
import { createBacklog, newStubs } from '../requests/backlog.ts';
import { startBenchCluster } from '../cluster/start.ts';
import type { Contender } from '../cluster/contender.ts';
import { contenders } from './contenders.ts';
import { measureDrain, type Drain } from './measure-drain.ts';
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

const { requests, rounds, results } = readArguments({
  requests: { default: 3000, least: 2 },
  rounds: { default: 3, least: 1 },
});

const cluster = await startBenchCluster((line) => console.log(line));
endOnSignals();
try {
  const all = await contenders(cluster.cluster);
  const stubs = newStubs(requests);
  const drain = async (contender: Contender, size: number): Promise<Drain> => {
    const backlog = await createBacklog(cluster, contender.signerName, stubs.slice(0, size));
    try {
      return await measureDrain(cluster, contender, backlog);
    } finally {
      await backlog.remove();
    }
  };
  for (const contender of all) await drain(contender, Math.min(requests, WARM_UP_REQUESTS));
  const drains = new Map<string, Drain[]>(all.map(({ name }) => [name, []]));
  for (const [round, turn] of inTurns(all, rounds).entries()) {
    for (const contender of turn) {
      const drained = await leastDisturbed(() => drain(contender, requests));
      drains.get(contender.name)?.push(drained);
      printDrain(round + 1, contender.name, drained);
    }
  }
  const figures = figuresOf(drains);
  const ratios = ratiosOf(drains);
  printTable(figures, ratios);
  const disturbed = [...drains.values()].flat().filter(isDisturbed).length;
  if (disturbed > 0) {
    console.log(`\n${disturbed} drains shared the cores with something else: measure again, alone`);
  }
  const machine = readMachine(cluster.kubernetes);
  writeResults(results, 'drain', {
    ratios,
    figures: { requests, rounds, disturbed, ...figures },
    machine,
  });
} finally {
  await cluster.stop();
}
