// SPDX-License-Identifier: Apache-2.0
import { hostname } from 'node:os';
import { missingPermissions } from '../kube/client/access-review.ts';
import {
  createClient,
  type CallResult,
  type Client,
  type ClientInit,
} from '../kube/client/client.ts';
import { createEventRecorder } from '../kube/events/recorder.ts';
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
} from '../kube/workqueue/concurrency-limiter.ts';
import { createDelayingQueue } from '../kube/workqueue/delaying-queue.ts';
import { createQueue } from '../kube/workqueue/queue.ts';
import { createRateLimiter } from '../kube/workqueue/rate-limiter.ts';
import type { Log } from '../ports.ts';
import type { Component } from '../runtime/component/component.ts';
import { serverTime } from '../runtime/component/server-time.ts';
import type { Metrics } from '../web/metrics.ts';
import type { ComponentOptions } from './component-options.ts';
import { componentMetrics, countAnswer, queueMetrics } from './metrics.ts';
import { clock, delay, monotonic, random, startTimer } from './process.ts';
import type { Replica } from './replica.ts';
import { traceCalls } from './tracing/traced-client.ts';

/** The backoff of every loop: it starts as client-go's, and a new permission takes effect within 30 s. */
const LOOP_BACKOFF = { firstMs: 5, maxMs: 30_000 };

/** What a loop has for itself. */
type LoopParts = ReturnType<Component['anotherLoop']>;

/** How the process talks to the API server; `onRefused` is called for each 403. */
export interface ConnectInit extends Pick<ClientInit, 'connection' | 'userAgent'> {
  readonly onRefused: () => void;
}

/** The loops of a process. Their concurrency limiters observe the writes of its one client. */
export class Loops {
  readonly #metrics: Metrics;
  readonly #limiters: ConcurrencyLimiter[] = [];

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** @param name - label of the queue's metrics */
  create(name: string): LoopParts {
    const concurrency = createConcurrencyLimiter({ clock, random, startTimer });
    this.#limiters.push(concurrency);
    const queue = createQueue(clock, queueMetrics(this.#metrics, name), random);
    return {
      queue: createDelayingQueue(queue, clock, startTimer),
      limiter: createRateLimiter({ ...LOOP_BACKOFF, random }),
      concurrency,
    };
  }

  /** Connects a client that counts every response, and reports PUTs to the limiters. */
  connect({ onRefused, ...init }: ConnectInit): Client {
    const metrics = this.#metrics;
    return createClient({
      ...{ ...init, clock, monotonic },
      onResponse: (result: CallResult) => {
        countAnswer(metrics, result);
        if (result.status === 403) onRefused();
        // PUTs are the writes of the loops. Reads and Events take another way through the server.
        if (result.method === 'PUT') for (const each of this.#limiters) each.observe(result);
      },
      onCredentials: (change) => metrics.credentials.inc({ change }),
    });
  }
}

export interface ComponentParts {
  readonly name: string;
  readonly options: ComponentOptions;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly loops: Loops;
  /** The client that reads and writes on every replica, leader or not. */
  readonly client: Client;
  readonly replica: Replica;
  readonly serving: Component['serving'];
  readonly recorder: Component['recorder'];
  readonly tracing: Component['tracing'];
}

/** Puts a component together. */
export function assembleComponent(parts: ComponentParts): Component {
  const { name, options, log, metrics, loops, client, replica, serving } = parts;
  const { recorder, tracing } = parts;
  const loop = loops.create(name);
  measureLoop(parts, loop);
  return {
    ...loop,
    ...{ name, clock, monotonic, delay, random, log, serving, recorder, tracing },
    ...{ shard: replica.shard, leases: replica.leases },
    client: tracing === undefined ? replica.client : traceCalls(replica.client, tracing),
    anotherLoop: (other) => loops.create(`${name}/${other}`),
    events: createEventRecorder({
      ...{ client, delay, random, log },
      clock: () => serverTime({ clock, client }),
      onDropped: (cause) => metrics.eventsDropped.inc({ cause }),
      controller: `countersign.dev/${name}`,
      instance: `${name}-${hostname()}`,
    }),
    metrics: componentMetrics(metrics, name),
    secretNamespace: options.secretNamespace,
    namespacedSigners: options.namespacedSigners === true,
    missingPermissions: (rules) => missingPermissions(client, rules),
    reservedPrefixes: options.reservedPrefix,
    propagationSeconds: options.propagation,
  };
}

/** Sets the gauges of the main loop at each scrape. */
function measureLoop({ name, metrics, client }: ComponentParts, loop: LoopParts): void {
  metrics.onScrape(() => {
    const { total, longest } = loop.queue.unfinished();
    metrics.queueUnfinished.set({ name }, total);
    metrics.queueLongest.set({ name }, longest);
    metrics.inFlightLimit.set(loop.concurrency.limit);
    metrics.clockOffset.set(client.clockOffset() / 1000);
  });
}
