// SPDX-License-Identifier: Apache-2.0
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from './binaries.ts';
import type { ComponentSpec } from './component.ts';
import type { PodHostState } from './real-pods/types.ts';
import type { Version } from './releases.ts';

/** All that another process needs to use a cluster; written to cluster.json in its directory. */
export interface ClusterState {
  readonly version: Version;
  readonly server: string;
  readonly directory: string;
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly kubectlTimeout: number;
  readonly tools?: Command;
  /** Absent: the cluster is somebody's own. */
  readonly components?: {
    readonly etcd: ComponentSpec;
    readonly apiServer: ComponentSpec;
    readonly controllerManager: ComponentSpec;
    readonly scheduler: ComponentSpec;
    readonly nodes: readonly ComponentSpec[];
    /** What all others are on; absent where containers are faked. */
    readonly podHost?: ComponentSpec;
  };
  readonly podHost?: PodHostState;
}

export function stateFileOf(directory: string): string {
  return join(directory, 'cluster.json');
}

export function writeState(state: ClusterState): void {
  writeFileSync(stateFileOf(state.directory), JSON.stringify(state, null, 2), { mode: 0o600 });
}

export function readState(file: string): ClusterState {
  return JSON.parse(readFileSync(file, 'utf8')) as ClusterState;
}
