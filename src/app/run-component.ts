// SPDX-License-Identifier: Apache-2.0
import { getCompileCacheDir } from 'node:module';
import type { ServingFault } from '#api/serving/report.ts';
import { messageOf, SignerError } from '#base/errors.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import type { Log } from '#base/ports.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { ProcessDescriptor } from '#component/descriptor.ts';
import type { RecordingComponent } from '#requests/recording/recorder.ts';
import { createServingState, type ServingState } from '#component/serving-state.ts';
import { createPermissionCheck, type PermissionCheck } from '#component/rbac/permission-check.ts';
import { createMetrics } from '#component/web/metric-registry.ts';
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
import { SERIES, componentMetrics } from './all-metrics.ts';
import { openRecorder, type OpenRecorder } from './ledger/open-recorder.ts';
import { openPorts } from './open-ports.ts';
import { clock, delay, random } from './process.ts';
import { createReplica, type Replica } from './replica.ts';
import { openTracing } from './tracing/open-tracing.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { VERSION } from './version.ts';
import { PROCESS_SERIES } from '#component/web/process-metrics.ts';

/** Pause before retrying an unreachable API server at the start. */
const START_RETRY_MS = 2_000;

/** Creates a controller from its component, after the queries that it needs from the API server. */
export type MakeController = (component: RecordingComponent, log: Log) => Promise<Controller>;

/** The process, as its name and its Leases show it. */
export type ComponentIdentity = Pick<ProcessDescriptor, 'name' | 'leads'>;

/**
 * Runs one component until SIGTERM, SIGINT or `stopped`. It finishes the work in progress, then
 * returns.
 * @throws SignerError KUBE_CONFIG without an API server to connect to
 * @throws SignerError USAGE if a port cannot be opened, or flags contradict each other; the caller
 * ends the process
 */
export async function runComponent(
  { name, leads = false }: ComponentIdentity,
  options: ComponentOptions,
  make: MakeController,
  stopped?: AbortSignal,
): Promise<void> {
  const root = await createLog(options.logFormat, options.logLevel);
  const log = root.child({ component: name });
  const stop = stopOnSignals(log, stopped);
  const metrics = createMetrics(name, VERSION, SERIES);
  const connection = await connectionOf(options, metrics);
  const loops = new Loops(metrics);
  const running: ComponentRuntime = {};
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
    name,
    leads,
    client,
    clock,
    delay,
    random,
    log,
    inCluster,
    metrics: componentMetrics(metrics, name),
    series: metrics,
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
  const compileCache = compileCacheState(process.env);
  log.info(
    { port, httpsPort, server: connection.server, version: VERSION, compileCache },
    'started',
  );
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

/**
 * Reports whether Node uses the compile cache that NODE_COMPILE_CACHE names, or undefined if the
 * variable is not set. Node refuses a cache of another version, other V8 flags or another user, and
 * compiles the code again.
 */
function compileCacheState(
  environment: Readonly<Record<string, string | undefined>>,
): 'used' | 'refused' | undefined {
  if ((environment['NODE_COMPILE_CACHE'] ?? '') === '') return undefined;
  return getCompileCacheDir() === undefined ? 'refused' : 'used';
}

/** State that exists once the API server has answered. */
interface ComponentRuntime {
  controller?: Controller;
  permissions?: PermissionCheck;
}

/** Returns the faults that a Lease reports besides missing permissions. */
function faultsOf(
  recording: OpenRecorder,
  running: ComponentRuntime,
): () => readonly ServingFault[] {
  return () => [...recording.faults(), ...(running.controller?.faults?.() ?? [])];
}

interface WatchersInit extends ComponentParts {
  readonly serving: ServingState;
  readonly component: Component;
  readonly running: ComponentRuntime;
  readonly recording: OpenRecorder;
}

/** Creates the checks of the component itself: permissions, admission policies, and /readyz. */
function createWatchers(init: WatchersInit): {
  readonly permissions: PermissionCheck;
  readonly admission: AdmissionWatch;
  readonly health: Health;
} {
  const { name, options, metrics, client, component, running, replica, serving } = init;
  const { recording } = init;
  const { missingPermissions, admissionDifferences } = metrics.of(PROCESS_SERIES);
  const permissionsOf = (): readonly PermissionRule[] => running.controller?.permissions() ?? [];
  const permissions = createPermissionCheck({
    ...component,
    client,
    component: name,
    permissions: permissionsOf,
    signers: () => running.controller?.signers?.() ?? [],
    missing: (count) => missingPermissions.set({}, count),
    checked: serving.checked,
  });
  const admission = createAdmissionWatch({
    ...component,
    client,
    permissions: permissionsOf,
    namespace: leaseNamespaceOf({ ...options, leases: true }, isInCluster(process.env)),
    onDifferences: (policy, count) => admissionDifferences.set({ policy }, count),
  });
  const health = createHealth({
    permissions,
    admission,
    replica,
    recording,
    clockOffset: () => client.clockOffset(),
    controller: () => running.controller,
  });
  return { permissions, admission, health };
}

/** Returns the connection to the API server from flags, the environment or the pod. */
function connectionOf(
  options: ComponentOptions,
  metrics: ReturnType<typeof createMetrics>,
): ReturnType<typeof loadConnection> {
  return loadConnection({
    ...options,
    kubeconfig: options.kubeconfig ?? kubeconfigFromEnvironment(process.env),
    clock,
    environment: process.env,
    onUnreadable: () => metrics.of(PROCESS_SERIES).credentials.inc({ change: 'unreadable' }),
  });
}

/**
 * Runs the controller. It leaves the other replicas last, so that none repeats the work in
 * progress.
 */
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
 * Retries `make` until it succeeds. Returns undefined if `stop` is aborted first.
 * @throws SignerError USAGE, which a retry cannot fix
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
