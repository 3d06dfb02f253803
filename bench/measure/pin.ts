// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import type { Cluster } from '../../test/cluster/cluster.ts';

/** The core of this process and of all that it starts. */
const OWN_CORE = '0';
/** The core of the API server, etcd and the controllers. */
const CLUSTER_CORE = '1';

/**
 * Gives a process, its threads and its later children these cores alone.
 *
 * @param cores - as `taskset -c` reads them: `1`, `0-3`
 * @throws Error if the process is gone, or the machine has no such core
 */
export function pin(pid: number, cores: string): void {
  const { status, stderr, error } = spawnSync('taskset', ['-a', '-p', '-c', cores, String(pid)], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    throw new Error(`taskset: process ${pid} stays on its cores: ${error?.message ?? stderr}`);
  }
}

/**
 * Puts this process and all that it starts later on one core, and the cluster's processes on
 * another: each side has a machine of one core.
 *
 * @returns a function that gives the cluster its cores back, for the bench that comes next
 */
export function separate({ apiServer, etcd, controllerManager, scheduler }: Cluster): () => void {
  const servers = [apiServer, etcd, controllerManager, scheduler];
  const pinAll = (cores: string): void => {
    // A process that has ended has no pid.
    for (const { pid } of servers) if (pid !== undefined) pin(pid, cores);
  };
  pin(process.pid, OWN_CORE);
  pinAll(CLUSTER_CORE);
  return () => pinAll(`0-${cpus().length - 1}`);
}
