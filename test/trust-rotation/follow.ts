// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '#kube/client/client.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { recordedLog } from '../support/component/recorded-log.ts';

/** A watch that runs. */
export interface Followed {
  stop(): Promise<void>;
}

/** Hears of every change of a collection; resolves once nothing that comes is missed. */
export async function follow(
  client: Client,
  where: { readonly path: string; readonly fieldSelector?: string },
  onEvent: (key: string, now: StoredObject | undefined) => void,
): Promise<Followed> {
  const stopped = new AbortController();
  const reflector = createReflector<StoredObject>({
    client,
    ...where,
    onEvent,
    clock: Date.now,
    log: recordedLog(),
    delay: (ms, signal) => sleep(ms, undefined, { signal }),
    random: (size) => randomBytes(size),
    metrics: { watchRestart: ignore, watchEvent: ignore, watchStopped: ignore },
  });
  const running = reflector.run(stopped.signal);
  await reflector.whenSynced(stopped.signal);
  return {
    stop: async () => {
      stopped.abort(new Error('the story is over'));
      await running;
    },
  };
}

const ignore = (): void => undefined;
