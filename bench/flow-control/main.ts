// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-flow-control`: from a request to its certificate, alone, and beside a controller that
 * takes all seats of its priority level, with and without deploy/flow-control.
 * ARGS: `--requests 40 --rounds 3`.
 */
import { join } from 'node:path';
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { example } from '../../test/support/cluster/fixture.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import { ECHO, startEcho } from '../cluster/echo.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { startBenchCluster, withApiServerFlags } from '../cluster/start.ts';
import { openAsker } from '../latency/one-request.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { percentile } from '../measure/percentile.ts';
import { medianRatio, rounded } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { printRatios, printRound } from '../measure/table.ts';
import { inTurns } from '../measure/turns.ts';
import { newStubs } from '../requests/backlog.ts';
import { createWildController, type WildController } from './wild.ts';

const { requests, rounds, results } = readArguments({
  /** Requests of each turn that count, one after the other. */
  requests: { default: 40, least: 1 },
  rounds: { default: 3, least: 1 },
});
/** Requests of each turn before them. */
const WARM_UP_REQUESTS = 5;
const FLOW_CONTROL = join(import.meta.dirname, '../../deploy/flow-control');
/** A tenth of the default, as a small control plane has it. The sum are its seats. */
const SEATS = ['--max-requests-inflight=40', '--max-mutating-requests-inflight=20'];

const ARMS = ['alone', 'beside', 'beside without flow control'] as const;
type Arm = (typeof ARMS)[number];
const WHO = { ours: WORKLOAD.signerName, echo: ECHO } as const;
type Who = keyof typeof WHO;
type Times = Readonly<Record<Who, readonly number[]>>;

endOnSignals();
const ownCluster = withApiServerFlags(...SEATS);
const bench = await startBenchCluster(console.log, [example('workload')], ownCluster);
const { cluster } = bench;
const [stub = ''] = newStubs(1);
const running: ContenderProcess[] = [];
let wild: WildController | undefined;
try {
  wild = await createWildController(cluster);
  running.push(await startOurs());
  running.push(await startEcho(cluster, [stub]));
  const measured = new Map<Arm, Times[]>(ARMS.map((arm) => [arm, []]));
  for (const [round, turn] of inTurns(ARMS, rounds).entries()) {
    for (const arm of turn) {
      const times = await measureArm(arm);
      measured.get(arm)?.push(times);
      const p90 = { ours: percentile(times.ours, 0.9), echo: percentile(times.echo, 0.9) };
      printRound(round + 1, arm, p90);
    }
  }
  const of = (arm: Arm, who: Who, share: number): number[] =>
    (measured.get(arm) ?? []).map((times) => percentile(times[who], share));
  const ratios = {
    p90_beside_wild: medianRatio(of('beside', 'ours', 0.9), of('alone', 'ours', 0.9)),
    p90_without_flow_control: medianRatio(
      of('beside without flow control', 'ours', 0.9),
      of('alone', 'ours', 0.9),
    ),
    p90_beside_wild_of_echo: medianRatio(of('beside', 'echo', 0.9), of('alone', 'echo', 0.9)),
  };
  printRatios(ratios);
  const row = (arm: Arm): object =>
    Object.fromEntries(
      (['ours', 'echo'] as const).map((who) => [
        who,
        {
          p50: rounded(median(of(arm, who, 0.5))),
          p90: rounded(median(of(arm, who, 0.9))),
          most: rounded(median(of(arm, who, 1))),
        },
      ]),
    );
  writeResults(results, 'flow-control', {
    ratios,
    figures: { requests, rounds, ...Object.fromEntries(ARMS.map((arm) => [arm, row(arm)])) },
    machine: readMachine(bench.kubernetes),
  });
} finally {
  await Promise.all(running.map((each) => each.stop()));
  await wild?.close();
  await bench.stop();
}

async function measureArm(arm: Arm): Promise<Times> {
  const verb = arm === 'beside without flow control' ? 'delete' : 'apply';
  await cluster.kubectl([verb, '-f', FLOW_CONTROL]);
  if (arm !== 'alone') await wild?.begin();
  try {
    return { ours: await timesOf('ours'), echo: await timesOf('echo') };
  } finally {
    if (arm !== 'alone') await wild?.pause();
  }
}

async function timesOf(who: Who): Promise<readonly number[]> {
  const asker = await openAsker(bench, WHO[who]);
  const times: number[] = [];
  try {
    for (let index = 0; index < WARM_UP_REQUESTS + requests; index += 1) {
      const ended = running.map(({ failed }) => failed);
      times.push(await Promise.race([asker.ask(stub), ...ended]));
    }
  } finally {
    asker.close();
  }
  return times.slice(WARM_UP_REQUESTS);
}

async function startOurs(): Promise<ContenderProcess> {
  const flags = ['--lease-namespace', SYSTEM_NAMESPACE];
  const program = await countersign(cluster, 'pcr-issuer', flags);
  return startContender(program, cluster.directory);
}
