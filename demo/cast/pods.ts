// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../../test/cluster/cluster.ts';
import { until } from '../../test/cluster/until.ts';
import { mapImages } from '../../test/image/mapped.ts';
import { COUNTERSIGN, IN_SYSTEM, rolledOut } from '../../test/real-pods/shipped.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { countersign } from '../../test/support/cluster/countersign.ts';
import { EVERY_COMPONENT } from '../../test/support/cluster/component-process.ts';
import { podObject } from '../../test/support/cluster/pods.ts';
import type { Heard } from '../peers/talk.ts';
import type { Tell } from '../story.ts';
import { imageParts } from './image.ts';
import {
  SIGNER,
  TEAM,
  WORKLOADS,
  spiffe,
  type Cast,
  type PeopleCa,
  type Workloads,
} from './cast.ts';

const [PODS, PEOPLE] = [SIGNER, 'example.com/people'];
export const SIGNER_NAMES: readonly string[] = [PODS, PEOPLE];
/** The CA of the people is their own: the cluster trusts it already, and no bundle is published. */
const SIGNERS = [{ name: PODS }, { name: PEOPLE, bundle: '' }];
/** Node in the image of the components. */
const NODE_PROGRAM = '/nodejs/bin/node';
const PEERS = join(import.meta.dirname, '../peers');
const PORT = 8443;
const FILES = ['/run/identity/credentials.pem', '/run/identity/trust-bundle.pem'] as const;
const IN_TEAM = ['-n', TEAM] as const;
const STARTED_MS = 60_000;

/** Where pods run, and from which image. */
export interface Ground {
  readonly cluster: Cluster;
  readonly nodes: readonly [string, string];
  readonly peopleCa: PeopleCa;
  readonly isAudited: boolean;
  /** Of the components, with its tag; workloads run its Node. */
  readonly image: string;
}

/** The components as shipped, and the workloads, each in pods that really run. */
export class Pods implements Cast {
  readonly cluster: Cluster;
  readonly components = EVERY_COMPONENT.length;
  readonly nodes: readonly [string, string];
  readonly peopleCa: PeopleCa;
  readonly isAudited: boolean;
  readonly values: string;
  readonly #image: string;
  #rollout: Promise<unknown> | undefined;

  constructor({ cluster, nodes, peopleCa, isAudited, image }: Ground) {
    this.cluster = cluster;
    this.nodes = nodes;
    this.peopleCa = peopleCa;
    this.isAudited = isAudited;
    this.values = join(cluster.directory, 'values.yaml');
    this.#image = image;
  }

  /** Starts a cluster of the demo's own. */
  static async start(directory: string): Promise<Pods> {
    const { countersign: image } = await mapImages(directory);
    const cluster = await startCluster({ realPods: true, images: { [COUNTERSIGN]: image } });
    return new Pods({
      cluster,
      nodes: ['node-1', 'node-2'],
      peopleCa: { ...cluster.clientCa, isTrusted: true },
      isAudited: true,
      image: COUNTERSIGN,
    });
  }

  /** Applies the objects of the chart without Helm, whose build takes longer than the story. */
  async install(tell: Tell): Promise<void> {
    const { values } = this;
    const { kubeconfig } = this.cluster;
    // A person edits the file of a kept cluster.
    writeFileSync(values, `${JSON.stringify(valuesFor(this.#image), undefined, 2)}\n`);
    const args = ['install', '--values', values, '--kubeconfig', kubeconfig];
    const { code, stderr } = await countersign(args);
    assert.equal(code, 0, stderr);
    tell(
      `countersign install --values values.yaml, the objects of the chart: ${SIGNER_NAMES.join(', ')}`,
    );
    await rolledOut(this.cluster);
    const columns =
      'POD:.metadata.name,NODE:.spec.nodeName,ADDRESS:.status.podIP,AS:.spec.serviceAccountName';
    const pods = ['get', 'pods', ...IN_SYSTEM, '-o', `custom-columns=${columns}`];
    tell((await this.cluster.kubectl(pods)).stdout);
  }

  async ready(tell: Tell): Promise<void> {
    await rolledOut(this.cluster);
    tell('every pod is Ready by its own probes');
  }

  async withoutApprover(run: () => Promise<void>): Promise<void> {
    const approver = ['deployment/countersign-approver', ...IN_SYSTEM];
    const scale = async (replicas: number): Promise<void> => {
      await this.cluster.kubectl(['scale', ...approver, `--replicas=${replicas}`]);
    };
    await scale(0);
    try {
      const selector = 'app.kubernetes.io/component=approver';
      await this.cluster.kubectl(['wait', '--for=delete', 'pod', ...IN_SYSTEM, '-l', selector]);
      await run();
    } finally {
      await scale(2);
    }
  }

  async workloads(strangers: string, tell: Tell): Promise<Workloads> {
    this.#rollout = this.#rollSigners();
    // Until `meanwhile` asks, nobody else would hear of it, and Node would end the demo in the
    // middle.
    this.#rollout.catch(() => undefined);
    await apply(this.cluster, peers());
    for (const { name, keyType, node } of WORKLOADS)
      await apply(this.cluster, workload({ name, keyType, node: this.nodes[node] }, this.#image));
    for (const { name, keyType, node } of WORKLOADS) {
      const [{ self, validTo }] = await until(`${name} serves`, STARTED_MS, () => this.#said(name));
      assert.equal(self, `URI:${spiffe(name)}`);
      tell(
        `${name.padEnd(5)} on ${this.nodes[node]}: ${keyType.padEnd(9)} ${spiffe(name)} until ${validTo}`,
      );
    }
    const { stdout } = await this.cluster.kubectl([
      'get',
      'pod',
      'web',
      ...IN_TEAM,
      '-o',
      'jsonpath={.status.podIP}',
    ]);
    tell(`web listens at ${stdout}:${PORT}`);
    return {
      talk: (client, wanted) => this.#talk(`${stdout}:${PORT}`, client, wanted, strangers),
      seen: async () => (await this.#said('web')) ?? [],
    };
  }

  /** Resolves when the rollout that began with the workloads is over. */
  async meanwhile(tell: Tell): Promise<void> {
    await this.#rollout;
    await rolledOut(this.cluster);
    tell('signer and pcr-issuer were replaced by new pods, while all of this went on');
  }

  places(): readonly string[] {
    const inSystem = IN_SYSTEM.join(' ');
    return [
      `kubectl get pods ${inSystem} -o wide`,
      ...EVERY_COMPONENT.map(
        (each) => `kubectl logs ${inSystem} deployment/countersign-${each} --all-pods`,
      ),
    ];
  }

  async end(): Promise<void> {
    await this.#rollout?.catch(() => undefined);
    await this.cluster.stop();
  }

  /** What the clients are in their pods; the stranger's certificate comes by stdin. */
  async #talk(
    address: string,
    client: 'api' | 'batch' | 'stranger',
    wanted: string,
    strangers: string,
  ): Promise<Heard> {
    const [pod, credentials] = client === 'stranger' ? ['api', '-'] : [client, FILES[0]];
    const command = [NODE_PROGRAM, '/peers/client.ts', address, credentials, FILES[1], wanted];
    const { stdout } = await this.cluster.kubectl(
      ['exec', '-i', ...IN_TEAM, pod, '--', ...command],
      {
        input: strangers,
      },
    );
    return JSON.parse(stdout) as Heard;
  }

  /** The lines of a workload, the first of which says who it is. */
  async #said(pod: string): Promise<[Said, ...Said[]] | undefined> {
    const { code, stdout } = await this.cluster.kubectl(['logs', ...IN_TEAM, pod], {
      allowFailure: true,
    });
    const [first, ...rest] = stdout.split('\n').filter((line) => line !== '');
    if (code !== 0 || first === undefined) return undefined;
    return [JSON.parse(first) as Said, ...rest.map((line) => JSON.parse(line) as Said)];
  }

  async #rollSigners(): Promise<void> {
    const signers = ['deployment/countersign-signer', 'deployment/countersign-pcr-issuer'];
    await this.cluster.kubectl(['rollout', 'restart', ...IN_SYSTEM, ...signers]);
    for (const each of signers)
      await this.cluster.kubectl(['rollout', 'status', ...IN_SYSTEM, each]);
  }
}

/** A line that demo/peers/server.ts prints. */
interface Said {
  readonly self?: string;
  readonly validTo?: string;
  readonly peer?: string;
  readonly refused?: string;
}

/** The values of the chart for the two signers of the story. */
export function valuesFor(image: string): object {
  return { image: imageParts(image), signers: SIGNERS };
}

/** The programs of the workloads, as files of a ConfigMap. */
function peers(): object {
  const read = (name: string): string => readFileSync(join(PEERS, name), 'utf8');
  const data = {
    'server.ts': read('server.ts'),
    'client.ts': read('client.ts'),
    // It says that they are modules.
    'package.json': '{"type": "module"}',
  };
  const metadata = { namespace: TEAM, name: 'peers' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

interface Workload {
  readonly name: string;
  readonly node: string;
  readonly keyType: string;
}

/** A pod that serves by its own files, as nobody, on a root that it cannot write. */
function workload({ name, node, keyType }: Workload, image: string): object {
  const wanted = { namespace: TEAM, name, serviceAccount: name, node, signerName: SIGNER, keyType };
  const { spec, ...pod } = podObject(wanted) as {
    spec: {
      readonly containers: readonly { readonly volumeMounts: readonly object[] }[];
      readonly volumes: readonly object[];
    };
  };
  const main = {
    image,
    command: [NODE_PROGRAM],
    args: ['/peers/server.ts', ...FILES, '0.0.0.0', String(PORT)],
    readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
    securityContext: {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
  };
  const containers = spec.containers.map((container) => ({
    ...container,
    ...main,
    volumeMounts: [...container.volumeMounts, { name: 'peers', mountPath: '/peers' }],
  }));
  const volumes = [...spec.volumes, { name: 'peers', configMap: { name: 'peers' } }];
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 65_532,
    runAsGroup: 65_532,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  return { ...pod, spec: { ...spec, securityContext, containers, volumes } };
}
