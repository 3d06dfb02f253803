// SPDX-License-Identifier: Apache-2.0
/** What recording costs a signer: in a drain, and at a steady load. */
import { startContender } from '../cluster/contender-process.ts';
import { WORKLOAD } from '../cluster/ours.ts';
import type { BenchCluster } from '../cluster/start.ts';
import { measureDrain, type Drain } from '../drain/measure-drain.ts';
import { arrivals } from '../latency/arrivals.ts';
import { openAsker } from '../latency/one-request.ts';
import { openLoop, type Latency } from '../latency/open-loop.ts';
import { median } from '../measure/median.ts';
import { medianRatio, rounded } from '../measure/ratios.ts';
import { runRounds } from '../measure/rounds.ts';
import { createBacklog, newStubs } from '../requests/backlog.ts';
import { ARMS, type Arm, type WithArm } from './baselines.ts';

/** By arm, round by round. */
export type Measured<T> = ReadonlyMap<string, readonly T[]>;

const STUBS = 256;
const WARM_UP_REQUESTS = 300;
const WARM_UP_SECONDS = 5;

/** The arms in turns, each draining the same backlog. */
export async function measureDrains(
  bench: BenchCluster,
  withArm: WithArm,
  { requests, rounds }: { readonly requests: number; readonly rounds: number },
): Promise<Measured<Drain>> {
  const stubs = newStubs(requests);
  const drained = async (arm: Arm, size: number): Promise<Drain> => {
    const backlog = await createBacklog(bench, WORKLOAD.signerName, stubs.slice(0, size));
    try {
      return await withArm(arm, (contender) => measureDrain(bench, contender, backlog));
    } finally {
      await backlog.remove();
    }
  };
  for (const arm of ARMS) await drained(arm, Math.min(requests, WARM_UP_REQUESTS));
  const turns = ARMS.map((arm) => ({ name: arm, measure: () => drained(arm, requests) }));
  return runRounds(turns, rounds);
}

/** The arms in turns, each answering so many requests a second. */
export async function measureLatencies(
  bench: BenchCluster,
  withArm: WithArm,
  { perSecond, seconds, rounds }: Readonly<Record<'perSecond' | 'seconds' | 'rounds', number>>,
): Promise<Measured<Latency>> {
  const stubs = newStubs(STUBS);
  const loaded = (arm: Arm): Promise<Latency> =>
    withArm(arm, async (contender) => {
      const process = await startContender(contender, bench.cluster.directory);
      try {
        await answered(bench, stubs[0] ?? '');
        return await openLoop(bench, process, {
          signerName: WORKLOAD.signerName,
          stubs,
          warmUpMs: WARM_UP_SECONDS * 1000,
          arrivals: arrivals({ perSecond, seconds: WARM_UP_SECONDS + seconds }, Math.random),
          beside: contender.beside,
        });
      } finally {
        await process.stop();
      }
    });
  const turns = ARMS.map((arm) => ({ name: arm, measure: () => loaded(arm) }));
  return runRounds(turns, rounds);
}

/**
 * Resolves when a request has its certificate: the start of a process is no part of a steady load.
 */
async function answered(bench: BenchCluster, stub: string): Promise<void> {
  const asker = await openAsker(bench, WORKLOAD.signerName);
  await asker.ask(stub);
  asker.close();
}

/** The median of the rounds' ratios of certificates a second, of those without a ledger. */
export function drainRatio(drains: Measured<Drain>, arm: Arm): number {
  const rates = (of: Arm): readonly number[] =>
    (drains.get(of) ?? []).map(({ certificatesPerSecond }) => certificatesPerSecond);
  return medianRatio(rates(arm), rates('off'));
}

/** The median of the rounds' differences of the 99th percentile, in milliseconds. */
export function addedMs(latencies: Measured<Latency>, arm: Arm): number {
  const without = latencies.get('off') ?? [];
  const added = (latencies.get(arm) ?? []).map(
    ({ p99 }, round) => p99 - (without[round]?.p99 ?? NaN),
  );
  return rounded(median(added));
}
