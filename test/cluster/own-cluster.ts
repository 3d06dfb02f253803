// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { findBinaries, type Command } from './binaries.ts';
import { defaultKubectlTimeout } from './compose.ts';
import { makeDirectory, removeDirectory } from './directory.ts';
import { ClusterHandle } from './handle.ts';
import { writeKubectl } from './kubectl.ts';
import { isVersion, versions } from './releases.ts';
import { writeState, type ClusterState } from './state.ts';
import type { Cluster, ClusterOptions } from './types.ts';

/** A cluster that is somebody's own: it is used as it is, nothing of it is started or ended. */
export async function useCluster(kubeconfig: string, options: ClusterOptions): Promise<Cluster> {
  const directory = makeDirectory();
  const stop = (): Promise<void> => {
    removeDirectory(directory);
    return Promise.resolve();
  };
  try {
    const file = resolve(kubeconfig);
    const frame: ClusterState = {
      version: options.version ?? '1.37',
      server: '',
      directory,
      kubeconfig: file,
      kubectl: writeKubectl(directory, await findKubectl(options), file),
      kubectlTimeout: options.kubectlTimeout ?? defaultKubectlTimeout,
    };
    const state = { ...frame, ...(await ask(new ClusterHandle(frame, stop))) };
    writeState(state);
    return new ClusterHandle(state, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ask(cluster: Cluster): Promise<Pick<ClusterState, 'server' | 'version'>> {
  const view = await cluster.kubectl(['config', 'view', '--minify', '-o', 'json']);
  const { clusters } = JSON.parse(view.stdout) as {
    clusters: [{ cluster: { server: string } }];
  };
  const { stdout } = await cluster.kubectl(['get', '--raw', '/version']);
  const { major, minor } = JSON.parse(stdout) as { major: string; minor: string };
  const version = `${major}.${parseInt(minor, 10)}`;
  if (!isVersion(version))
    throw new Error(`the cluster is a ${version}; want one of ${versions.join(', ')}`);
  return { server: clusters[0].cluster.server, version };
}

async function findKubectl(options: ClusterOptions): Promise<Command> {
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((place) => join(place, 'kubectl'))
    .find((file) => existsSync(file));
  if (onPath !== undefined) return [onPath];
  const binaries = await findBinaries(options.version ?? '1.37', options.log ?? (() => undefined));
  return binaries('kubectl');
}
