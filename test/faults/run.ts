// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-faults`: requests under mixed faults of every kind, and a verdict from three books:
 * the API server's audit log, our log, and the objects. ARGS: `--requests 20000 --seed 1`.
 */
import { parseArgs } from 'node:util';
import { openFaultCluster } from './lab/cluster.ts';
import { openLab, type Lab } from './lab/lab.ts';
import { flow } from './mixed/flow.ts';
import { happen } from './mixed/happen.ts';
import { mostWasted, printReport } from './mixed/print.ts';
import { MIXED, NEW_LISTS } from './mixed/script.ts';
import { TIMETABLE } from './mixed/timetable.ts';
import { awaitEnds, tryRequests } from './oracle/court.ts';
import { wastedOf } from './oracle/judge.ts';

/**
 * After the last fault: what waits was told to for half a minute at most, a dead watch for 90 s.
 */
const HEALING_MS = 240_000;
const LINE_MS = 10_000;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '20261121' },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
if (!Number.isInteger(requests) || requests < 2) throw new Error('--requests: want a whole number');

const cluster = await openFaultCluster((line) => console.log(line));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
let lab: Lab | undefined;
try {
  lab = await openLab({ cluster, seed });
  process.exitCode = (await run(lab)) ? 0 : 1;
} finally {
  await lab?.stop();
  await cluster.stop();
}

/** @returns whether everything held */
async function run(at: Lab): Promise<boolean> {
  console.log(`${requests} requests, seed ${seed}`);
  const began = performance.now();
  let made = 0;
  const ticking = setInterval(() => console.log(`${made} of ${requests} made`), LINE_MS);
  at.proxy.script.set(MIXED);
  const happened = happen(at, TIMETABLE, () => made / requests);
  const wanted = await flow(at, requests, (count) => (made = count));
  clearInterval(ticking);
  await happened;
  at.proxy.script.set(NEW_LISTS);
  at.proxy.cut();
  await awaitEnds(at, wanted, HEALING_MS);
  const judged = await tryRequests(at, { wanted, auditMayMiss: true });
  printReport(at.proxy.tally, judged, (performance.now() - began) / 1000);
  return (
    judged.violations.length === 0 &&
    judged.wastedByRunning === 0 &&
    wastedOf(judged) <= mostWasted(requests)
  );
}
