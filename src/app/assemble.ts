// SPDX-License-Identifier: Apache-2.0
import { hostname } from 'node:os';
import { missingPermissions } from '#kube/client/access-review.ts';
import {
  createClient,
  type CallResult,
  type Client,
  type ClientInit,
} from '#kube/client/client.ts';
import { createEventRecorder } from '#kube/events/recorder.ts';
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
} from '#kube/workqueue/concurrency-limiter.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import type { Log } from '#base/ports.ts';
import type { Component } from '#component/contract.ts';
import type { RecordingComponent } from '#requests/recording/recorder.ts';
import { serverTime } from '#component/server-time.ts';
import type { Metrics } from '#component/web/metric-registry.ts';
import type { ComponentOptions } from './component-options.ts';
import { componentMetrics, countAnswer, queueMetrics } from './all-metrics.ts';
import { clock, delay, monotonic, random, startTimer } from './process.ts';
import type { Replica } from './replica.ts';
import { traceCalls } from './tracing/traced-client.ts';
import { PROCESS_SERIES } from '#component/web/process-metrics.ts';

/**
 * Backoff of every loop. It starts like client-go's, and a new permission takes effect within 30 s.
 */
const LOOP_BACKOFF = { firstMs: 5, maxMs: 30_000 };

/** Components of one loop. */
type LoopParts = ReturnType<Component['anotherLoop']>;

/** Connection to the API server. `onRefused` is called for each 403. */
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
    const concurrency = createConcurrencyLimiter({ clock: monotonic, random, startTimer });
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
      ...init,
      clock,
      monotonic,
      onResponse: (result: CallResult) => {
        countAnswer(metrics, result);
        if (result.status === 403) onRefused();
        // PUTs are the writes of the loops. The server limits reads and Events separately.
        if (result.method === 'PUT') for (const each of this.#limiters) each.observe(result);
      },
      onCredentials: (change) => metrics.of(PROCESS_SERIES).credentials.inc({ change }),
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
  readonly recorder: RecordingComponent['recorder'];
  readonly tracing: Component['tracing'];
}

/** Assembles a component. */
export function assembleComponent(parts: ComponentParts): RecordingComponent {
  const { name, options, log, metrics, loops, client, replica, serving } = parts;
  const { recorder, tracing } = parts;
  const loop = loops.create(name);
  measureLoop(parts, loop);
  return {
    ...loop,
    name,
    clock,
    monotonic,
    delay,
    random,
    log,
    serving,
    recorder,
    tracing,
    shard: replica.shard,
    leases: replica.leases,
    client: tracing === undefined ? replica.client : traceCalls(replica.client, tracing),
    anotherLoop: (other) => loops.create(`${name}/${other}`),
    events: createEventRecorder({
      client,
      delay,
      random,
      log,
      clock: () => serverTime({ clock, client }),
      onDropped: (cause) => metrics.of(PROCESS_SERIES).eventsDropped.inc({ cause }),
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
  const { queueUnfinished, queueLongest, inFlightLimit, clockOffset } = metrics.of(PROCESS_SERIES);
  metrics.onScrape(() => {
    const { total, longest } = loop.queue.unfinished();
    queueUnfinished.set({ name }, total);
    queueLongest.set({ name }, longest);
    inFlightLimit.set({}, loop.concurrency.currentLimit());
    clockOffset.set({}, client.clockOffset() / 1000);
  });
}
