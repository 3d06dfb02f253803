// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import { cpuTimeOf, cpuTimeOfAll } from './cpu-time.ts';

/** Microseconds of wall clock and CPU, from some moment on or between two. */
export interface Reading {
  readonly elapsed: number;
  readonly contender: number;
  readonly apiServer: number;
  readonly etcd: number;
  /** This process: load and watches. */
  readonly bench: number;
  readonly machine: number;
}

/**
 * Reads the clock and the CPU time of everybody who shares the cores.
 *
 * @param contenders - their processes; where it is a function it is asked at each reading, since a
 *   database makes one for each connection
 */
export function createMeter(
  { apiServer, etcd }: Cluster,
  contenders: readonly number[] | (() => readonly number[]),
): () => Reading {
  /** The status writer ends with its last write: then its last reading counts. */
  const last = new Map<number, number>();
  const now = typeof contenders === 'function' ? contenders : () => contenders;
  const refresh = (): number => {
    for (const pid of [...last.keys(), ...now()]) {
      last.set(pid, cpuTimeOf(pid) ?? last.get(pid) ?? 0);
    }
    return [...last.values()].reduce((sum, spent) => sum + spent, 0);
  };
  return () => ({
    elapsed: performance.now() * 1000,
    contender: refresh(),
    apiServer: cpuTimeOf(apiServer.pid ?? 0) ?? 0,
    etcd: cpuTimeOf(etcd.pid ?? 0) ?? 0,
    bench: ownCpuTime(),
    machine: cpuTimeOfAll(),
  });
}

export function between(from: Reading, to: Reading): Reading {
  return {
    elapsed: to.elapsed - from.elapsed,
    contender: to.contender - from.contender,
    apiServer: to.apiServer - from.apiServer,
    etcd: to.etcd - from.etcd,
    bench: to.bench - from.bench,
    machine: to.machine - from.machine,
  };
}

function ownCpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
