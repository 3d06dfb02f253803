// SPDX-License-Identifier: Apache-2.0
/**
 * The component acme in this process, which can be killed between any two of its calls and writes.
 */
import { OF_ACME_SIGNERS } from '#acme/solving/messages.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import { createAcme } from '#acme/acme/index.ts';
import { clock, delay, monotonic, random, startTimer } from '#app/process.ts';
import type { Client } from '#kube/client/client.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import type { Component } from '#component/contract.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

/**
 * How much faster its clock runs than that of the servers: waits between polls are not what is
 * tested. While an Order lives it must not come ahead by the ten minutes after which a clean-up is
 * given up.
 */
const FASTER = 5;

/** One process of the component, as far as others can tell. */
export interface Life {
  readonly component: Component;
  /** What ACME servers are told that calls them: no two lives have one. */
  readonly userAgent: string;
  /** From now on nothing that it does reaches anybody. */
  readonly kill: () => void;
  readonly isDead: () => boolean;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}

/** What a life does to others, in order: `write` before a write, `written` after it. */
export type OnWrite = (moment: 'write' | 'written', what: string, kill: () => void) => void;

let lives = 0;

/** @param faster - how much faster its clock runs than that of the servers */
export function startLife(
  client: Client,
  onWrite: OnWrite = () => undefined,
  faster = FASTER,
): Life {
  lives += 1;
  const userAgent = `countersign-test-${lives}`;
  const stop = new AbortController();
  const begun = Date.now();
  const fast = (): number => begun + (clock() - begun) * faster;
  const kill = (): void => stop.abort();
  const isDead = (): boolean => stop.signal.aborted;
  const dead = (): Promise<never> => new Promise(() => undefined);
  const killable: Client = {
    stream: (init) =>
      isDead()
        ? dead()
        : client.stream({
            ...init,
            signal: AbortSignal.any([init.signal ?? stop.signal, stop.signal]),
          }),
    clockOffset: () => 0,
    close: () => Promise.resolve(),
    request: async (init) => {
      if (isDead()) return dead();
      if (init.method === 'GET') return client.request(init);
      const what = `${init.method} ${init.path.replace(/-[0-9a-f]{10}(?=\/|$)/, '-…')}`;
      onWrite('write', what, kill);
      if (isDead()) return dead();
      const answer = await client.request<never>(init);
      onWrite('written', what, kill);
      return isDead() ? dead() : answer;
    },
  };
  const parts = (): Pick<Component, 'queue' | 'limiter' | 'concurrency'> => {
    const none = { added: () => undefined, depth: () => undefined, waited: () => undefined };
    const timer: typeof startTimer = (ms, action) => startTimer(ms / faster, action);
    return {
      queue: createDelayingQueue(createQueue(fast, none, random), fast, timer),
      limiter: createRateLimiter({ firstMs: 5, maxMs: 30_000, random }),
      concurrency: createConcurrencyLimiter({ clock: fast, random, startTimer: timer }),
    };
  };
  const component: Component = recordedComponent({
    name: 'acme',
    client: killable,
    clock: fast,
    monotonic,
    random,
    ...parts(),
    delay: (ms: number, signal = stop.signal) =>
      isDead() ? dead() : delay(ms, AbortSignal.any([signal, stop.signal])),
    anotherLoop: parts,
  });
  const controller = createAcme({
    component,
    checkChallenge: () => Promise.resolve(undefined),
    renewsCertificates: false,
    maxChallenges: 60,
    http01Grants: [],
    namespaced: { servers: [], solvers: [], guard: connectGuard([], OF_ACME_SIGNERS) },
    userAgent,
  });
  const ended = controller.run(stop.signal).catch(() => undefined);
  return { component, userAgent, kill, isDead, ended };
}
