// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { isEnded } from '../lab/ended.ts';
import type { Lab } from '../lab/lab.ts';
import { RESOURCES, type AnyRequest, type Kind, type Wanted } from '../lab/wanted.ts';

/**
 * So many are open at once: enough that every worker is busy, few enough that none waits for long.
 */
const OPEN = 400;
const CREATORS = 16;
/** The figures of docs/reference/faults.md are of these two. */
const MIXED_KINDS = ['csr', 'pcr'] as const satisfies readonly Kind[];
const LOOK_MS = 20;

/**
 * Makes requests, CSRs and PCRs in turns, as fast as they are answered.
 *
 * @param made - told of how many there are by now
 */
export async function flow(
  lab: Lab,
  count: number,
  made: (count: number) => void,
): Promise<readonly Wanted[]> {
  const end = new AbortController();
  const watching = MIXED_KINDS.map((kind) => watchOpen(lab, kind));
  const runs = watching.map((each) => each.run(end.signal));
  const open = (): number => watching.reduce((sum, each) => sum + each.list().length, 0);
  const wanted: Wanted[] = [];
  let next = 0;
  async function create(): Promise<void> {
    while (next < count) {
      const number = next;
      next += 1;
      while (open() >= OPEN) await sleep(LOOK_MS);
      const kind = MIXED_KINDS[number % MIXED_KINDS.length] ?? 'csr';
      wanted.push(await lab.load.create(kind, `mixed-${number}`));
      made(wanted.length);
    }
  }
  await Promise.all(Array.from({ length: CREATORS }, create));
  end.abort();
  await Promise.all(runs);
  return wanted;
}

/** Past the proxy. It only sets the pace: what is judged is read again. */
function watchOpen({ admin }: Lab, kind: Kind): Reflector<AnyRequest> {
  const ignore = (): void => undefined;
  return createReflector<AnyRequest>({
    client: admin,
    path: RESOURCES[kind].collection(),
    keep: (request) => !isEnded(kind, request),
    onEvent: ignore,
    clock: Date.now,
    delay: async (milliseconds, signal) => {
      await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
    },
    random: (size) => randomBytes(size),
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    metrics: { watchRestart: ignore, watchEvent: ignore, watchStopped: ignore },
  });
}
