// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from '../../test/cluster/cluster.ts';
import type { Heard } from '../peers/talk.ts';
import type { Tell } from '../story.ts';

export const TEAM = 'team-a';
export const SIGNER = 'example.com/workload';

/** The SPIFFE ID that the ClusterSigner gives a ServiceAccount. */
export function spiffe(serviceAccount: string): string {
  return `spiffe://cluster.local/ns/${TEAM}/sa/${serviceAccount}`;
}

/** The story's workloads: each has a ServiceAccount of its name, on one of two nodes. */
export const WORKLOADS = [
  { name: 'web', node: 0, keyType: 'ED25519' },
  { name: 'api', node: 1, keyType: 'ECDSAP256' },
  { name: 'batch', node: 0, keyType: 'ECDSAP256' },
] as const;

/** Workloads with credentials of their own; `web` serves. */
export interface Workloads {
  /**
   * What `web` answers to a client that expects `wanted`; `stranger` has a certificate of another
   * CA.
   */
  talk(client: 'api' | 'batch' | 'stranger', wanted: string): Promise<Heard>;
  /** Identities and refusals as `web` saw them, in order. */
  seen(): Promise<readonly { readonly peer?: string; readonly refused?: string }[]>;
}

/** A CA for client certificates. */
export interface PeopleCa {
  readonly certFile: string;
  readonly keyFile: string;
  /** The API server takes its certificates for users. */
  readonly isTrusted: boolean;
}

/** Who plays the components and the workloads: pods, or processes where pods cannot run. */
export interface Cast {
  readonly cluster: Cluster;
  /** The names of the nodes of the workloads; one twice where the cluster has one. */
  readonly nodes: readonly [string, string];
  /** The CA of the people, as PEM files. */
  readonly peopleCa: PeopleCa;
  /** The audit log can be read, which needs a cluster of the demo. */
  readonly isAudited: boolean;
  /** The file of values of `countersign install`. Undefined if it installed nothing. */
  readonly values: string | undefined;
  /** The components that run; each has a ServiceAccount of its own. */
  readonly components: number;
  /** What is shipped, until its components have started. */
  install(tell: Tell): Promise<void>;
  /** Resolves when every component is Ready. */
  ready(tell: Tell): Promise<void>;
  /** Does something while no approver is at work. */
  withoutApprover(run: () => Promise<void>): Promise<void>;
  /** @param strangers - PEM: key and certificate that another CA issued */
  workloads(strangers: string, tell: Tell): Promise<Workloads>;
  /**
   * For somebody who keeps the cluster: where the components' logs and ports are, one line each.
   */
  places(): readonly string[];
  end(): Promise<void>;
}
