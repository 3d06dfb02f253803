// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchCluster } from '../cluster/start.ts';
import { median } from '../measure/median.ts';
import { createBacklog, repeated } from '../requests/backlog.ts';
import { openAsker } from './one-request.ts';

export interface QuietBusy {
  /** Median of milliseconds, one request after the other without a pause. */
  readonly busy: number;
  /** Median of the first request after each pause. */
  readonly quiet: number;
}

export interface QuietInit {
  readonly signerNames: readonly string[];
  readonly stub: string;
  readonly idleSeconds: number;
  /** Pauses. */
  readonly samples: number;
}

/** As many as make a median; the first half of them is not counted. */
const BUSY_REQUESTS = 100;
/** Of a signer name that nobody serves, before anybody is asked after a pause. */
const WAKING_REQUESTS = 50;
const NOBODYS = 'bench.example.com/nobody';
/**
 * The API server ends a watch after half an hour at the earliest; a new one is opened for each
 * pause.
 */
const MAX_IDLE_SECONDS = 1_500;

/**
 * All signers are idle at the same time, and then asked in turns. The API server and the bench are
 * not, when that begins: whoever is asked first would pay for their rest.
 *
 * @returns by signer name
 */
export async function quietBusy(
  bench: BenchCluster,
  { signerNames, stub, idleSeconds, samples }: QuietInit,
): Promise<ReadonlyMap<string, QuietBusy>> {
  if (idleSeconds > MAX_IDLE_SECONDS) throw new Error('--idle: the watches would end meanwhile');
  const busy = new Map<string, number>();
  for (const signerName of signerNames) {
    const asker = await openAsker(bench, signerName);
    const taken: number[] = [];
    for (let index = 0; index < BUSY_REQUESTS; index++) taken.push(await asker.ask(stub));
    asker.close();
    busy.set(signerName, median(taken.slice(BUSY_REQUESTS / 2)));
  }
  const quiet = new Map<string, number[]>(signerNames.map((name) => [name, []]));
  for (let sample = 0; sample < samples; sample++) {
    const askers = await Promise.all(
      signerNames.map(async (name) => ({ name, asker: await openAsker(bench, name) })),
    );
    await delay(idleSeconds * 1000);
    const waking = await createBacklog(bench, NOBODYS, repeated([stub], WAKING_REQUESTS));
    await waking.remove();
    const turn = sample % 2 === 0 ? askers : askers.toReversed();
    for (const { name, asker } of turn) {
      quiet.get(name)?.push(await asker.ask(stub));
      asker.close();
    }
  }
  return new Map(
    signerNames.map((name) => [
      name,
      { busy: busy.get(name) ?? NaN, quiet: median(quiet.get(name) ?? []) },
    ]),
  );
}
