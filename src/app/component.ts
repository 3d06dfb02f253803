// SPDX-License-Identifier: Apache-2.0
import type { ServingFault } from '../api/serving/report.ts';
import { messageOf, SignerError } from '../errors.ts';
import { loadConnection } from '../kube/client/kubeconfig.ts';
import type { Log } from '../ports.ts';
import type { Component, Controller } from '../runtime/component/component.ts';
import { createServingState, type ServingState } from '../runtime/component/serving-state.ts';
import { createPermissionCheck, type PermissionCheck } from '../runtime/rbac/permission-check.ts';
import { createMetrics } from '../web/metrics.ts';
import { createAdmissionWatch, type AdmissionWatch } from './admission-watch.ts';
import { Loops, assembleComponent, type ComponentParts } from './assemble.ts';
import {
  isInCluster,
  kubeconfigFromEnvironment,
  leaseNamespaceOf,
  type ComponentOptions,
} from './component-options.ts';
import { createHealth, type Health } from './health.ts';
import { createLog } from './log.ts';
import { componentMetrics } from './metrics.ts';
import { openRecorder, type OpenRecorder } from './ledger/open-recorder.ts';
import { openPorts } from './open-ports.ts';
import { clock, delay, random } from './process.ts';
import { createReplica, type Replica } from './replica.ts';
import { openTracing } from './tracing/open-tracing.ts';
import type { PermissionRule } from '../kube/resource/permissions.ts';
import { VERSION } from './version.ts';

/** How long to wait before an API server that cannot be reached at the start is tried again. */
const START_RETRY_MS = 2_000;

/** Makes a controller from its component; asks the API server what it needs to know first. */
export type MakeController = (component: Component, log: Log) => Promise<Controller>;

/**
 * Runs one component until SIGTERM, SIGINT or `stopped`: finishes the work in progress, then returns.
 *
 * @param name - the subcommand
 * @throws SignerError KUBE_CONFIG if there is no API server to connect to
 * @throws SignerError USAGE if a port cannot be opened, or flags contradict each other; whoever calls this ends the process
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
  const connection = await connectionOf(options, metrics);
  const loops = new Loops(metrics);
  const running: Running = {};
  const client = loops.connect({
    connection,
    userAgent: `countersign-${name}/${VERSION}`,
    onRefused: () => running.permissions?.refused(),
  });
  const inCluster = isInCluster(process.env);
  const namespaced = options.namespacedSigners === true;
  const recording = openRecorder(name, options, { metrics, log });
  const serving = createServingState({ clock, namespaced, faults: faultsOf(recording, running) });
  const replica = createReplica({
    ...{ name, client, clock, delay, random, log, inCluster },
    metrics: componentMetrics(metrics, name),
    registry: metrics.registry,
    leaseNamespace: leaseNamespaceOf(options, inCluster),
    leaseSeconds: options.leaseDuration,
    secretNamespace: options.secretNamespace,
    isReady: () => running.controller?.notReady().length === 0,
    annotations: serving.annotations,
  });
  serving.onChange(replica.renew);
  const traces = await openTracing(name, process.env, log);
  const made = { name, options, log, metrics, loops, client, replica, serving };
  const parts = { ...made, recorder: recording.recorder, tracing: traces.tracing };
  const component = assembleComponent(parts);
  const { permissions, admission, health } = createWatchers({
    ...parts,
    component,
    running,
    recording,
  });
  running.permissions = permissions;
  const ports = await openPorts(options, { metrics, log, ...health });
  const { port, httpsPort } = ports;
  log.info({ port, httpsPort, server: connection.server, version: VERSION }, 'started');
  const listening = ports.run(stop);
  const controller = await makeWithRetries(() => make(component, log), log, stop);
  if (controller !== undefined) {
    running.controller = controller;
    const watches = [permissions.run(stop), admission.run(stop)];
    await Promise.all([...watches, runReplica(controller, replica, stop)]);
  }
  await Promise.all([recording.close(), traces.close()]);
  await component.events.flush();
  await listening;
  await ports.close();
  await client.close();
  log.info({}, 'stopped');
}

/** What exists once the API server has answered. */
interface Running {
  controller?: Controller;
  permissions?: PermissionCheck;
}

/** What a Lease reports besides the permissions that are missing. */
function faultsOf(recording: OpenRecorder, running: Running): () => readonly ServingFault[] {
  return () => [...recording.faults(), ...(running.controller?.faults?.() ?? [])];
}

interface WatchersInit extends ComponentParts {
  readonly serving: ServingState;
  readonly component: Component;
  readonly running: Running;
  readonly recording: OpenRecorder;
}

/** What looks after the component itself: its permissions, the admission policies, what /readyz shows. */
function createWatchers(init: WatchersInit): {
  readonly permissions: PermissionCheck;
  readonly admission: AdmissionWatch;
  readonly health: Health;
} {
  const { name, options, metrics, client, component, running, replica, serving } = init;
  const { recording } = init;
  const permissionsOf = (): readonly PermissionRule[] => running.controller?.permissions() ?? [];
  const permissions = createPermissionCheck({
    ...{ ...component, client, component: name, permissions: permissionsOf },
    signers: () => running.controller?.signers?.() ?? [],
    missing: (count) => metrics.missingPermissions.set(count),
    checked: serving.checked,
  });
  const admission = createAdmissionWatch({
    ...{ ...component, client, permissions: permissionsOf },
    namespace: leaseNamespaceOf({ ...options, leases: true }, isInCluster(process.env)),
    onDifferences: (policy, count) => metrics.admissionDifferences.set({ policy }, count),
  });
  const health = createHealth({
    ...{ permissions, admission, replica, recording, clockOffset: () => client.clockOffset() },
    controller: () => running.controller,
  });
  return { permissions, admission, health };
}

/** The API server to talk to, as flags, the environment or the pod name it. */
function connectionOf(
  options: ComponentOptions,
  metrics: ReturnType<typeof createMetrics>,
): ReturnType<typeof loadConnection> {
  return loadConnection({
    ...options,
    kubeconfig: options.kubeconfig ?? kubeconfigFromEnvironment(process.env),
    clock,
    onUnreadable: () => metrics.credentials.inc({ change: 'unreadable' }),
  });
}

/** Leaves the other replicas last: until the work in progress ends, none of them may repeat it. */
async function runReplica(
  controller: Controller,
  replica: Replica,
  stop: AbortSignal,
): Promise<void> {
  const leave = new AbortController();
  const taking = replica.run(leave.signal);
  await controller.run(stop);
  leave.abort();
  await taking;
}

/**
 * Retries `make` until it succeeds; undefined if `stop` is aborted first.
 *
 * @throws SignerError USAGE: what the flags say stays as it is, so trying again would change nothing
 */
async function makeWithRetries(
  make: () => Promise<Controller>,
  log: Log,
  stop: AbortSignal,
): Promise<Controller | undefined> {
  while (!stop.aborted) {
    try {
      return await make();
    } catch (error) {
      if (error instanceof SignerError && error.code === 'USAGE') throw error;
      log.warn({ error: messageOf(error) }, 'cannot start yet, retrying');
      await delay(START_RETRY_MS, stop).catch(() => undefined);
    }
  }
  return undefined;
}

function stopOnSignals(log: Log, stopped?: AbortSignal): AbortSignal {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  if (stopped?.aborted === true) end();
  stopped?.addEventListener('abort', end, { once: true });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping: finishing the work in progress');
      stop.abort();
    });
  }
  return stop.signal;
}
