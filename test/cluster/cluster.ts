// SPDX-License-Identifier: Apache-2.0
import { findBinaries } from './binaries.ts';
import type { Component } from './component.ts';
import { composeCluster } from './compose.ts';
import { makeDirectory, removeDirectory } from './directory.ts';
import { ClusterHandle } from './handle.ts';
import { useCluster } from './own-cluster.ts';
import { startComponents } from './start.ts';
import { readState, writeState } from './state.ts';
import type { Cluster, ClusterOptions } from './types.ts';

export type { AuditEvent } from './audit.ts';
export type { Cluster, ClusterOptions, Node, Process } from './types.ts';

/**
 * Starts a cluster, or looks up the one that `kubeconfig` names. Resolves when its nodes are Ready
 * and pods can be created; when that fails, what was started has been ended.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  if (options.kubeconfig !== undefined) return useCluster(options.kubeconfig, options);
  const log = options.log ?? ((): void => undefined);
  const version = options.version ?? '1.37';
  const binaries = await findBinaries(version, log);
  const directory = makeDirectory();
  const started: Component[] = [];
  const endAtExit = (): void => {
    for (const component of started) component.signalIfRunning('SIGKILL');
    removeDirectory(directory);
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((component) => component.kill()));
    removeDirectory(directory);
    process.off('exit', endAtExit);
  };
  process.on('exit', endAtExit);
  try {
    const state = await composeCluster({ ...options, version, directory, binaries });
    await startComponents(state, started, log);
    writeState(state);
    return new ClusterHandle(state, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The cluster that another process started; its `stop` only lets go of it. */
export function attachCluster(file: string): Cluster {
  return new ClusterHandle(readState(file), () => Promise.resolve());
}

/**
 * The cluster whose cluster.json COUNTERSIGN_TEST_CLUSTER names, if its version fits; else a new
 * one.
 */
export async function openCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const file = process.env['COUNTERSIGN_TEST_CLUSTER'];
  if (file === undefined || file === '') return startCluster(options);
  const cluster = attachCluster(file);
  return cluster.version === (options.version ?? cluster.version) ? cluster : startCluster(options);
}
