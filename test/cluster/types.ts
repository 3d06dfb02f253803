// SPDX-License-Identifier: Apache-2.0
import type { AuditEvent } from './audit.ts';
import type { ComponentName } from './components.ts';
import type { KubectlOptions, KubectlResult } from './kubectl.ts';
import type { IpFamily } from './real-pods/addresses.ts';
import type { Front, PodHost, PodImages } from './real-pods/types.ts';
import type { Version } from './releases.ts';
import type { ServiceAccountOptions } from './service-account.ts';

export interface ClusterOptions {
  /** Default 1.37. */
  readonly version?: Version;
  /** Default 2, named node-1, node-2, … */
  readonly nodes?: number;
  /** Uses this cluster, which is somebody's own, and starts nothing. */
  readonly kubeconfig?: string;
  /** Flags appended to a component's own; where a flag takes one value, the last one counts. */
  readonly flags?: Partial<Record<ComponentName, readonly string[]>>;
  /** Containers run: see real-pods/README.md. Default false: they are faked, which is fast. */
  readonly realPods?: boolean;
  /** With `realPods`: of pods and Services, that of `status.podIP` first. Default IPv4 alone. */
  readonly ipFamilies?: readonly IpFamily[];
  /** With `realPods`: what there is to run. */
  readonly images?: PodImages;
  /** With `realPods`: more ports of 127.0.0.1 that lead into the network of the pods' host. */
  readonly hostPorts?: readonly number[];
  /** With `realPods`: names that pods find besides those of Services. */
  readonly front?: Front;
  /** Default true. Benches may do without the audit log. */
  readonly audit?: boolean;
  /** After so many milliseconds a kubectl is killed. Default 60,000. */
  readonly kubectlTimeout?: number;
  readonly log?: (line: string) => void;
}

/** A process of the cluster; every method of one resolves when what it says is so. */
export interface Process {
  readonly name: string;
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  /** Resolves when it serves. */
  start(): Promise<void>;
  /** Asks it to end, insists after 2 s, resolves when it is gone. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT make one that hangs. */
  signal(name: NodeJS.Signals): void;
}

export interface Node extends Process {
  /** The kubelet's: volumes lie in pods/<uid>/volumes/kubernetes.io~projected/<volume>/. */
  readonly rootDirectory: string;
}

/**
 * Of a cluster that is somebody's own, `clientCa` and the processes throw when they are read,
 * `nodes` is empty and `readAudit` rejects.
 */
export interface Cluster {
  readonly version: Version;
  readonly server: string;
  readonly directory: string;
  /** The administrator's (group system:masters). */
  readonly kubeconfig: string;
  /** The CA whose client certificates the API server accepts. */
  readonly clientCa: { readonly certFile: string; readonly keyFile: string };
  readonly etcd: Process;
  readonly apiServer: Process;
  readonly controllerManager: Process;
  readonly scheduler: Process;
  readonly nodes: readonly Node[];
  /** Throws where containers are faked. */
  readonly podHost: PodHost;
  /** The argv of a bench subcommand of the control plane's program, such as pcr-status-writer. */
  tool(name: string): readonly [program: string, ...args: string[]];
  /** Rejects with what kubectl wrote on stderr, unless `allowFailure`. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>;
  /** Events may come a moment after their answers: await the one you look for. */
  readAudit(): Promise<AuditEvent[]>;
  /** The path of a kubeconfig with a bound token of that ServiceAccount, which must exist. */
  serviceAccountKubeconfig(
    namespace: string,
    name: string,
    options?: ServiceAccountOptions,
  ): Promise<string>;
  /** Ends every process and removes the directory; an attached cluster is only let go of. */
  stop(): Promise<void>;
}
