// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { until } from '../../test/cluster/until.ts';
import type { ComponentName } from '../../test/support/cluster/component-process.ts';
import { podFlags } from '../../test/support/cluster/entrypoint-flags.ts';
import { SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import type { Program } from '../cluster/contender.ts';
import { countersign } from '../cluster/ours.ts';
import type { BenchCluster } from '../cluster/start.ts';
import { readApiCalls } from '../measure/api-calls.ts';
import { cpuTimeOf } from '../measure/cpu-time.ts';
import { memoryNow, type MemoryNow } from '../measure/process-memory.ts';

/** What one idle process takes. */
export interface IdleProcess extends MemoryNow {
  readonly cpuMsPerMinute: number;
}

/** What one idle component takes, and took at its start. */
export interface IdleComponent extends IdleProcess {
  /** CPU time from the start to the first 200 of `/readyz`. */
  readonly readyCpuMs: number;
}

/** What idle processes take together. */
export interface Installation {
  readonly processes: number;
  readonly ownMiB: number;
  readonly cpuMsPerMinute: number;
  /** Calls of the API server; a watch counts when it ends. */
  readonly callsPerMinute: number;
  /** Those of them that change what etcd stores. */
  readonly writesPerMinute: number;
}

/** Every process by its name, and all of them together. */
export interface Measured<T extends IdleProcess> {
  readonly processes: ReadonlyMap<string, T>;
  readonly installation: Installation;
}

interface ComponentsInit {
  readonly bundle: string;
  readonly names: readonly ComponentName[];
  /** Of each component. The memory of the first one is its figure. */
  readonly replicas: number;
  /** Seconds of rest before calls are counted, and again until memory is read. */
  readonly settle: number;
}

interface Started extends ContenderProcess {
  readonly readyCpuMs: number;
}

const MAKE_CACHE = join(import.meta.dirname, '../../build/compile-cache.ts');
const READY_MS = 120_000;

/** Starts components as the image does in pods, and reads what they take while they are idle. */
export async function measureComponents(
  bench: BenchCluster,
  { bundle, names, replicas, settle }: ComponentsInit,
): Promise<Measured<IdleComponent>> {
  const { cluster } = bench;
  const cache = makeCompileCache(bundle, cluster.directory);
  const started = new Map<string, Started>();
  try {
    for (let replica = 1; replica <= replicas; replica += 1) {
      for (const name of names) {
        const program = await inPod(cluster, name, { bundle, cache });
        const key = replica === 1 ? name : `${name}-${replica}`;
        started.set(key, await startReady(cluster, { ...program, name: key }));
      }
    }
    const { processes, installation } = await readIdle(bench, started, settle);
    const idle = names.flatMap((name) => {
      const memory = processes.get(name);
      const { readyCpuMs = NaN } = started.get(name) ?? {};
      return memory === undefined ? [] : [[name, { ...memory, readyCpuMs }] as const];
    });
    return { processes: new Map(idle), installation };
  } finally {
    await stopAll(started);
  }
}

/** Starts programs of others, and reads what they take while they are idle. */
export async function measurePrograms(
  bench: BenchCluster,
  programs: readonly Program[],
  settle: number,
): Promise<Measured<IdleProcess>> {
  const started = new Map<string, ContenderProcess>();
  try {
    for (const program of programs)
      started.set(program.name, await startContender(program, bench.cluster.directory));
    return await readIdle(bench, started, settle);
  } finally {
    await stopAll(started);
  }
}

/**
 * Waits for `settle` seconds, so that no call of a start counts; then reads the calls of the API
 * server during `settle` seconds, and the memory of each process. The other clients of the API
 * server are halted meanwhile. What the API server asks itself (its own Lease, every 10 s) is in
 * the calls.
 */
async function readIdle(
  { cluster, client }: BenchCluster,
  started: ReadonlyMap<string, ContenderProcess>,
  settle: number,
): Promise<Measured<IdleProcess>> {
  const others = [cluster.controllerManager, cluster.scheduler];
  const failed = [...started.values()].map((each) => each.failed);
  try {
    await Promise.race([delay(settle * 1000), ...failed]);
    for (const other of others) other.signal('SIGSTOP');
    const before = await readApiCalls(client);
    const begun = performance.now();
    const cpuBefore = new Map([...started].map(([name, { pid }]) => [name, cpuTimeOf(pid) ?? NaN]));
    await Promise.race([delay(settle * 1000), ...failed]);
    const minutes = (performance.now() - begun) / 60_000;
    const perMinute = (count: number): number => count / minutes;
    const cpuOf = (name: string, pid: number): number =>
      perMinute((cpuTimeOf(pid) ?? NaN) - (cpuBefore.get(name) ?? NaN)) / 1000;
    const processes = new Map(
      [...started].map(([name, { pid }]) => [
        name,
        { ...memoryNow(pid), cpuMsPerMinute: cpuOf(name, pid) },
      ]),
    );
    const after = await readApiCalls(client);
    const sum = (of: (each: IdleProcess) => number): number =>
      [...processes.values()].reduce((all, each) => all + of(each), 0);
    return {
      processes,
      installation: {
        processes: started.size,
        ownMiB: sum(({ ownMiB }) => ownMiB),
        cpuMsPerMinute: sum(({ cpuMsPerMinute }) => cpuMsPerMinute),
        // The first reading is in the second one.
        callsPerMinute: perMinute(after.all - before.all - 1),
        writesPerMinute: perMinute(after.mutating - before.mutating),
      },
    };
  } finally {
    for (const other of others) other.signal('SIGCONT');
  }
}

async function stopAll(started: ReadonlyMap<string, ContenderProcess>): Promise<void> {
  await Promise.all([...started.values()].map((each) => each.stop()));
}

/**
 * Makes the compile cache as the image's build does, with the flags of {@link countersign}.
 * @returns the value of NODE_COMPILE_CACHE; '' for a bundle of one file, from before there were
 * parts
 */
function makeCompileCache(bundle: string, directory: string): string {
  const parts = bundle.replace(/\.mjs$/, '');
  if (!existsSync(parts)) return '';
  const cache = join(directory, `compile-cache-${basename(parts)}`);
  execFileSync(process.execPath, [...podFlags(), '--random-seed=1', MAKE_CACHE, parts], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  return cache;
}

interface Files {
  readonly bundle: string;
  /** Value of NODE_COMPILE_CACHE. */
  readonly cache: string;
}

/** A component with its compile cache and its Leases: in a pod it finds both by itself. */
async function inPod(
  cluster: Cluster,
  name: ComponentName,
  { bundle, cache }: Files,
): Promise<Program> {
  const leases = ['--lease-namespace', SYSTEM_NAMESPACE];
  const { command } = await countersign(cluster, name, leases, bundle);
  return { name, command: ['env', `NODE_COMPILE_CACHE=${cache}`, ...command] };
}

async function startReady(cluster: Cluster, program: Program): Promise<Started> {
  const component = await startContender(program, cluster.directory);
  await Promise.race([component.failed, untilReady(cluster.directory, program.name)]);
  return { ...component, readyCpuMs: (cpuTimeOf(component.pid) ?? NaN) / 1000 };
}

async function untilReady(directory: string, name: string): Promise<void> {
  await until(`${name} is ready`, READY_MS, async () => {
    const port = /"port":(\d+)/.exec(readFileSync(join(directory, `${name}.log`), 'utf8'))?.[1];
    if (port === undefined) return false;
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    return answer?.status === 200;
  });
}
