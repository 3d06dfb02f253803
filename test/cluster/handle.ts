// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { readAuditLog, type AuditEvent } from './audit.ts';
import type { Command } from './binaries.ts';
import { Component } from './component.ts';
import { rootDirectoryOf } from './components.ts';
import { runKubectl, type KubectlOptions, type KubectlResult } from './kubectl.ts';
import { podHostOf } from './real-pods/host.ts';
import type { PodHost } from './real-pods/types.ts';
import type { Version } from './releases.ts';
import { writeServiceAccountKubeconfig, type ServiceAccountOptions } from './service-account.ts';
import type { ClusterState } from './state.ts';
import type { Cluster, Node } from './types.ts';

class NodeComponent extends Component implements Node {
  get rootDirectory(): string {
    return rootDirectoryOf(this.directory, this.name);
  }
}

/** A cluster as its state describes it, whoever started it. */
export class ClusterHandle implements Cluster {
  readonly nodes: readonly Node[];
  readonly #state: ClusterState;
  readonly #parts: Map<string, Component>;
  readonly #end: () => Promise<void>;

  constructor(state: ClusterState, end: () => Promise<void>) {
    const { components, directory } = state;
    this.#state = state;
    this.#end = end;
    this.nodes = (components?.nodes ?? []).map((spec) => new NodeComponent(spec, directory));
    this.#parts = new Map();
    if (components === undefined) return;
    for (const part of ['etcd', 'apiServer', 'controllerManager', 'scheduler'] as const)
      this.#parts.set(part, new Component(components[part], directory));
  }

  get version(): Version {
    return this.#state.version;
  }

  get server(): string {
    return this.#state.server;
  }

  get directory(): string {
    return this.#state.directory;
  }

  get kubeconfig(): string {
    return this.#state.kubeconfig;
  }

  get clientCa(): { certFile: string; keyFile: string } {
    this.#mustBeOurs('its client CA');
    const file = (name: string): string => join(this.directory, 'pki', name);
    return { certFile: file('client-ca.crt'), keyFile: file('client-ca.key') };
  }

  get etcd(): Component {
    return this.#part('etcd');
  }

  get apiServer(): Component {
    return this.#part('apiServer');
  }

  get controllerManager(): Component {
    return this.#part('controllerManager');
  }

  get scheduler(): Component {
    return this.#part('scheduler');
  }

  get podHost(): PodHost {
    const { podHost } = this.#state;
    if (podHost === undefined) throw new Error('the cluster was started without realPods');
    return podHostOf(podHost);
  }

  tool(name: string): Command {
    const { tools } = this.#state;
    if (tools === undefined) throw notOurs(`the tool ${name}`);
    return [...tools, name];
  }

  kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<KubectlResult> {
    const { kubectl, kubectlTimeout } = this.#state;
    return runKubectl(kubectl, args, { ...options, timeout: kubectlTimeout });
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- rejects where it cannot be read
  async readAudit(): Promise<AuditEvent[]> {
    this.#mustBeOurs('its audit log');
    return readAuditLog(this.directory);
  }

  serviceAccountKubeconfig(
    namespace: string,
    name: string,
    options: ServiceAccountOptions = {},
  ): Promise<string> {
    const kubectl = (args: readonly string[]): Promise<KubectlResult> => this.kubectl(args);
    return writeServiceAccountKubeconfig(kubectl, this.directory, { namespace, name, ...options });
  }

  stop(): Promise<void> {
    return this.#end();
  }

  #part(name: string): Component {
    const part = this.#parts.get(name);
    if (part === undefined) throw notOurs(name);
    return part;
  }

  #mustBeOurs(what: string): void {
    if (this.#state.components === undefined) throw notOurs(what);
  }
}

function notOurs(what: string): Error {
  return new Error(
    `${what} cannot be had: the cluster was given by its kubeconfig, not started here`,
  );
}
