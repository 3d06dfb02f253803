// SPDX-License-Identifier: Apache-2.0
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type CallResult, type Client } from '../kube/client/client.ts';
import {
  createDelayingQueue,
  type DelayingQueue,
  type StartTimer,
} from '../kube/workqueue/delaying-queue.ts';
import { createEventRecorder } from '../kube/events/recorder.ts';
import { loadConnection } from '../kube/client/kubeconfig.ts';
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
} from '../kube/workqueue/concurrency-limiter.ts';
import { missingPermissions } from '../kube/client/access-review.ts';
import { createQueue } from '../kube/workqueue/queue.ts';
import { createRateLimiter, type RateLimiter } from '../kube/workqueue/rate-limiter.ts';
import type { Clock, Delay, Log } from '../ports.ts';
import type { Component, Controller } from '../runtime/component/component.ts';
import { createPermissionCheck } from '../runtime/rbac/permission-check.ts';
import { serverTime } from '../runtime/component/server-time.ts';
import { createMetrics, type Metrics } from '../web/metrics.ts';
import { createLog } from './log.ts';
import { openPorts } from './open-ports.ts';
import { componentMetrics, countAnswer, queueMetrics } from './metrics.ts';
import {
  type ComponentOptions,
  isInCluster,
  leaseNamespaceOf,
  kubeconfigFromEnvironment,
} from './component-options.ts';
import { createReplica } from './replica.ts';
import { monotonic, random } from './process.ts';
import { retried } from './retried.ts';
import { VERSION } from './version.ts';
import { clockWarnings } from './health.ts';

const clock: Clock = () => Date.now();
const delay: Delay = async (milliseconds, signal) => {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
};

const startTimer: StartTimer = (ms, action) => {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
};

/** The first retry, as client-go's; and the longest wait, so that a grant heals within half a minute. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 30_000;

/** Makes a controller from its component; asks the API server what it needs to know first. */
export type MakeController = (component: Component, log: Log) => Promise<Controller>;

/**
 * Runs one component until SIGTERM, SIGINT or `stopped`: finishes what is in flight, then returns.
 *
 * @throws SignerError KUBE_CONFIG when there is no API server to talk to
 */
export async function runComponent(
  name: string,
  options: ComponentOptions,
  make: MakeController,
  stopped?: AbortSignal,
): Promise<void> {
  const log = createLog(options.logFormat, options.logLevel).child({ component: name });
  const stop = stopOnSignals(log, stopped);
  const metrics = createMetrics(name, VERSION);
  const connection = await loadConnection({
    ...options,
    kubeconfig: options.kubeconfig ?? kubeconfigFromEnvironment(process.env),
    clock,
    onUnreadable: () => metrics.credentials.inc({ change: 'unreadable' }),
  });
  const userAgent = `countersign-${name}/${VERSION}`;
  const limiters: ConcurrencyLimiter[] = [];
  const newConcurrencyLimiter = (): ConcurrencyLimiter => {
    const made = createConcurrencyLimiter({ clock, random, startTimer });
    limiters.push(made);
    return made;
  };
  const concurrency = newConcurrencyLimiter();
  const onResponse = (answered: CallResult): void => {
    countAnswer(metrics, answered);
    // Only what is written for a decision: reads and Events go another way through the server.
    if (answered.method === 'PUT') for (const each of limiters) each.observe(answered);
  };
  const client = createClient({
    ...{ connection, clock, monotonic, userAgent, onResponse },
    onCredentials: (change) => metrics.credentials.inc({ change }),
  });
  const running: { controller?: Controller } = {};
  const inCluster = isInCluster(process.env);
  const replica = createReplica({
    ...{ name, client, clock, delay, random, log, inCluster },
    metrics: componentMetrics(metrics, name),
    registry: metrics.registry,
    leaseNamespace: leaseNamespaceOf(options, inCluster),
    leaseSeconds: options.leaseDuration,
    secretNamespace: options.secretNamespace,
    isReady: () => running.controller?.notReady().length === 0,
  });
  const { shard, leases, client: fenced } = replica;
  const shared = { shard, leases, client: fenced };
  const anotherLoop: Component['anotherLoop'] = (loop) => ({
    queue: newQueue(metrics, `${name}/${loop}`),
    limiter: newLimiter(),
    concurrency: newConcurrencyLimiter(),
  });
  const parts = { name, options, log, metrics, client, concurrency };
  const component = { ...assemble(parts), anotherLoop, ...shared };
  const rights = createPermissionCheck({
    ...component,
    // The client that reads and writes on every replica.
    client,
    component: name,
    permissions: () => running.controller?.permissions() ?? [],
    missing: (count) => metrics.missingPermissions.set(count),
  });
  const notReady = (): readonly string[] =>
    running.controller === undefined
      ? ['the API server has not answered yet']
      : [...rights.notReady(), ...running.controller.notReady()];
  const warnings = (): readonly string[] => [
    ...clockWarnings(client.clockOffset()),
    ...(running.controller?.warnings?.() ?? []),
    ...replica.warnings(),
  ];
  const ports = await openPorts(options, { metrics, log, notReady, warnings });
  const { port, httpsPort } = ports;
  log.info({ port, httpsPort, server: connection.server, version: VERSION }, 'started');
  const serving = ports.run(stop.signal);
  const controller = await retried(() => make(component, log), { delay, log, signal: stop.signal });
  if (controller !== undefined) {
    running.controller = controller;
    const watching = rights.run(stop.signal);
    const leave = new AbortController();
    const taking = replica.run(leave.signal);
    await controller.run(stop.signal);
    // Only now: nothing is under way any more that another replica would do at the same time.
    leave.abort();
    await Promise.all([watching, taking]);
  }
  await component.events.flush();
  await serving;
  await ports.close();
  await client.close();
  log.info({}, 'stopped');
}

function assemble(parts: {
  readonly name: string;
  readonly options: ComponentOptions;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly client: Client;
  readonly concurrency: ConcurrencyLimiter;
}): Omit<Component, 'shard' | 'leases' | 'anotherLoop'> {
  const { name, options, log, metrics, client, concurrency } = parts;
  const queue = newQueue(metrics, name);
  metrics.onScrape(() => {
    const { total, longest } = queue.unfinished();
    metrics.queueUnfinished.set({ name }, total);
    metrics.queueLongest.set({ name }, longest);
    metrics.inFlightLimit.set(concurrency.limit);
    metrics.clockOffset.set(client.clockOffset() / 1000);
  });
  return {
    name,
    client,
    clock,
    delay,
    random,
    log,
    events: createEventRecorder({
      client,
      clock: () => serverTime({ clock, client }),
      delay,
      random,
      log,
      onDropped: (cause) => metrics.eventsDropped.inc({ cause }),
      controller: `countersign.dev/${name}`,
      instance: `${name}-${hostname()}`,
    }),
    metrics: componentMetrics(metrics, name),
    queue,
    limiter: newLimiter(),
    concurrency,
    secretNamespace: options.secretNamespace,
    namespacedSigners: options.namespacedSigners === true,
    // By the client that asks on every replica, whoever leads.
    missingPermissions: (rules) => missingPermissions(client, rules),
    reservedPrefixes: options.reservedPrefix,
    propagationSeconds: options.propagation,
  };
}

function newQueue(metrics: Metrics, name: string): DelayingQueue {
  const queue = createQueue(clock, queueMetrics(metrics, name), random);
  return createDelayingQueue(queue, clock, startTimer);
}

function newLimiter(): RateLimiter {
  return createRateLimiter({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random });
}

function stopOnSignals(log: Log, stopped?: AbortSignal): AbortController {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  if (stopped?.aborted === true) end();
  stopped?.addEventListener('abort', end, { once: true });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping: what is in flight is finished first');
      stop.abort();
    });
  }
  return stop;
}
