// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../../test/cluster/cluster.ts';
import {
  applyManifests,
  startComponents,
  type Installation,
} from '../../test/support/cluster/installation.ts';
import { COMPONENTS } from '../../test/support/cluster/component-process.ts';
import { createPod, filesOf } from '../../test/support/cluster/pods.ts';
import { startServer, talk, type Identity, type PeerServer } from '../peers/talk.ts';
import type { Tell } from '../story.ts';
import {
  SIGNER,
  TEAM,
  WORKLOADS,
  spiffe,
  type Cast,
  type PeopleCa,
  type Workloads,
} from './cast.ts';

const READY_MS = 30_000;

/**
 * Where no pod can run: components are processes, and workloads are processes that read pods'
 * files.
 */
export class Processes implements Cast {
  readonly cluster: Cluster;
  readonly components = COMPONENTS.length;
  readonly nodes = ['node-1', 'node-2'] as const;
  readonly isAudited = true;
  readonly values = undefined;
  #installation: Installation | undefined;
  #server: PeerServer | undefined;

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  get peopleCa(): PeopleCa {
    return { ...this.cluster.clientCa, isTrusted: true };
  }

  static async start(): Promise<Processes> {
    return new Processes(await startCluster());
  }

  /** CRD, namespaces, roles and admission policies, then five processes with five identities. */
  async install(tell: Tell): Promise<void> {
    await applyManifests(this.cluster);
    tell('CRD, namespaces, roles and admission policies applied');
    this.#installation = await startComponents(this.cluster, { logs: this.cluster.directory });
    for (const { name, pid } of Object.values(this.#installation.components)) {
      tell(
        `${name.padEnd(11)} process ${pid} as system:serviceaccount:countersign-system:countersign-${name}`,
      );
    }
  }

  async ready(tell: Tell): Promise<void> {
    await Promise.all(
      Object.values(this.#installed.components).map((each) => each.ready(READY_MS)),
    );
    tell('all five components answer /readyz with 200');
  }

  async withoutApprover(run: () => Promise<void>): Promise<void> {
    const { approver } = this.#installed.components;
    approver.signal('SIGSTOP');
    try {
      await run();
    } finally {
      approver.signal('SIGCONT');
    }
  }

  async workloads(strangers: string, tell: Tell): Promise<Workloads> {
    const { cluster } = this;
    await Promise.all(
      WORKLOADS.map((each) =>
        createPod(cluster, {
          ...each,
          node: this.nodes[each.node],
          namespace: TEAM,
          serviceAccount: each.name,
          signerName: SIGNER,
        }),
      ),
    );
    const found: Record<string, Identity> = {};
    for (const { name, keyType } of WORKLOADS) {
      const files = await filesOf(cluster, { namespace: TEAM, name });
      const certificate = new X509Certificate(readFileSync(files.credentials));
      assert.equal(certificate.subjectAltName, `URI:${spiffe(name)}`);
      tell(
        `${name.padEnd(5)} on ${files.node}: ${keyType.padEnd(9)} ${spiffe(name)} until ${certificate.validTo}`,
      );
      found[name] = files;
    }
    const credentials = join(cluster.directory, 'stranger.pem');
    writeFileSync(credentials, strangers, { mode: 0o600 });
    const identities = found as Record<'web' | 'api' | 'batch', Identity>;
    const stranger = { ...identities.api, credentials };
    const server = await startServer(identities.web);
    this.#server = server;
    return {
      talk: (client, wanted) => talk(server.port, { ...identities, stranger }[client], wanted),
      seen: () => Promise.resolve(server.seen),
    };
  }

  places(): readonly string[] {
    return Object.values(this.#installed.components).map(
      ({ name, url }) =>
        `${name.padEnd(11)} ${url}/readyz, ${url}/metrics; log ${this.cluster.directory}/${name}.log`,
    );
  }

  async end(): Promise<void> {
    this.#server?.stop();
    await this.#installation?.stop();
    await this.cluster.stop();
  }

  get #installed(): Installation {
    if (this.#installation === undefined) throw new Error('nothing is installed yet');
    return this.#installation;
  }
}
