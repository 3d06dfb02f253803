// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import { cpuTimeOf, cpuTimeOfAll } from './cpu-time.ts';

/** Microseconds of wall clock and CPU, from some moment on or between two. */
export interface Reading {
  readonly elapsed: number;
  readonly contender: number;
  readonly apiServer: number;
  readonly etcd: number;
  readonly machine: number;
}

/** Reads the clock and the CPU time of everybody who shares the cores. */
export function createMeter({ apiServer, etcd }: Cluster, contender: number): () => Reading {
  /** The status writer ends with its last write: then its last reading counts. */
  let last = 0;
  const refresh = (): number => (last = cpuTimeOf(contender) ?? last);
  return () => ({
    elapsed: performance.now() * 1000,
    contender: refresh(),
    apiServer: cpuTimeOf(apiServer.pid ?? 0) ?? 0,
    etcd: cpuTimeOf(etcd.pid ?? 0) ?? 0,
    machine: cpuTimeOfAll(),
  });
}

export function between(from: Reading, to: Reading): Reading {
  return {
    elapsed: to.elapsed - from.elapsed,
    contender: to.contender - from.contender,
    apiServer: to.apiServer - from.apiServer,
    etcd: to.etcd - from.etcd,
    machine: to.machine - from.machine,
  };
}
