// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { until } from '../../test/cluster/until.ts';
import type { ComponentName } from '../../test/support/cluster/component-process.ts';
import { podFlags } from '../../test/support/cluster/entrypoint-flags.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import { countersign } from '../cluster/ours.ts';
import { cpuTimeOf } from '../measure/cpu-time.ts';
import { memoryOf, ownMemoryOf } from '../measure/process-memory.ts';

/** Memory and CPU time of one idle component. */
export interface Idle {
  /** Memory that it shares with no other process. */
  readonly ownMiB: number;
  readonly residentMiB: number;
  /** CPU time from the start to the first 200 of `/readyz`. */
  readonly readyCpuMs: number;
}

interface IdleInit {
  readonly bundle: string;
  readonly names: readonly ComponentName[];
  /** Seconds without work before the reading. */
  readonly settle: number;
}

interface Started {
  readonly process: ContenderProcess;
  readonly readyCpuMs: number;
}

const MAKE_CACHE = join(import.meta.dirname, '../../build/compile-cache.ts');
const MIB = 2 ** 20;
const READY_MS = 120_000;

/** Starts components as the image does, and reads their memory after `settle` seconds. */
export async function measureIdle(
  cluster: Cluster,
  { bundle, names, settle }: IdleInit,
): Promise<ReadonlyMap<ComponentName, Idle>> {
  const started = new Map<ComponentName, Started>();
  const cache = makeCompileCache(bundle, cluster.directory);
  try {
    for (const name of names) started.set(name, await startReady(cluster, name, { bundle, cache }));
    await delay(settle * 1000);
    return new Map([...started].map(([name, each]) => [name, idleOf(each)]));
  } finally {
    await Promise.all([...started.values()].map(({ process }) => process.stop()));
  }
}

function idleOf({ process: { pid }, readyCpuMs }: Started): Idle {
  return {
    ownMiB: ownMemoryOf(pid) / MIB,
    residentMiB: (memoryOf(pid)?.resident ?? NaN) / MIB,
    readyCpuMs,
  };
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

async function startReady(
  cluster: Cluster,
  name: ComponentName,
  { bundle, cache }: Files,
): Promise<Started> {
  const program = await countersign(cluster, name, [], bundle);
  const component = await startContender(
    { ...program, command: ['env', `NODE_COMPILE_CACHE=${cache}`, ...program.command] },
    cluster.directory,
  );
  await Promise.race([component.failed, untilReady(cluster.directory, name)]);
  return { process: component, readyCpuMs: (cpuTimeOf(component.pid) ?? NaN) / 1000 };
}

async function untilReady(directory: string, name: string): Promise<void> {
  await until(`${name} is ready`, READY_MS, async () => {
    const port = /"port":(\d+)/.exec(readFileSync(join(directory, `${name}.log`), 'utf8'))?.[1];
    if (port === undefined) return false;
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    return answer?.status === 200;
  });
}
