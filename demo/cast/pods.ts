// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../../test/cluster/cluster.ts';
import { until } from '../../test/cluster/until.ts';
import { mapImages } from '../../test/image/mapped.ts';
import { COUNTERSIGN, IN_SYSTEM, NODE, rolledOut } from '../../test/real-pods/shipped.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { countersign } from '../../test/support/cluster/countersign.ts';
import { EVERY_COMPONENT } from '../../test/support/cluster/component-process.ts';
import { podObject } from '../../test/support/cluster/pods.ts';
import type { Heard } from '../peers/talk.ts';
import type { Tell } from '../story.ts';
import { SIGNER, TEAM, WORKLOADS, spiffe, type Cast, type Workloads } from './cast.ts';

const NAMES = ['example.com/workload', 'example.com/people'];
/** The CA of the people is their own: the cluster trusts it already, and no bundle is published. */
const VALUES = { signers: [{ name: NAMES[0] }, { name: NAMES[1], bundle: '' }] };
const PEERS = join(import.meta.dirname, '../peers');
const PORT = 8443;
const FILES = ['/run/identity/credentials.pem', '/run/identity/trust-bundle.pem'] as const;
const IN_TEAM = ['-n', TEAM] as const;
const STARTED_MS = 60_000;

/** The components as shipped, and the workloads, each in pods that really run. */
export class Pods implements Cast {
  readonly cluster: Cluster;
  readonly components = EVERY_COMPONENT.length;
  #rollout: Promise<unknown> | undefined;

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  static async start(directory: string): Promise<Pods> {
    const image = await mapImages(directory, {
      ...peer('server.ts'),
      ...peer('client.ts'),
      // It says that they are modules.
      '/peers/package.json': join(import.meta.dirname, '../../package.json'),
    });
    const images = { [COUNTERSIGN]: image.countersign, [NODE]: image.node };
    const cluster = await startCluster({ realPods: true, images });
    return new Pods(cluster);
  }

  /** Applies the objects of the chart without Helm, whose build takes longer than the story. */
  async install(tell: Tell): Promise<void> {
    const { directory, kubeconfig } = this.cluster;
    const values = join(directory, 'values.yaml');
    writeFileSync(values, JSON.stringify(VALUES));
    const args = ['install', '--values', values, '--kubeconfig', kubeconfig];
    const { code, stderr } = await countersign(args);
    assert.equal(code, 0, stderr);
    tell(`countersign install --values values.yaml, the objects of the chart: ${NAMES.join(', ')}`);
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
    for (const wanted of WORKLOADS) await apply(this.cluster, workload(wanted));
    for (const { name, keyType, node } of WORKLOADS) {
      const [{ self, validTo }] = await until(`${name} serves`, STARTED_MS, () => this.#said(name));
      assert.equal(self, `URI:${spiffe(name)}`);
      tell(`${name.padEnd(5)} on ${node}: ${keyType.padEnd(9)} ${spiffe(name)} until ${validTo}`);
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
    const command = [
      '/nodejs/bin/node',
      '/peers/client.ts',
      address,
      credentials,
      FILES[1],
      wanted,
    ];
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

function peer(name: string): Readonly<Record<string, string>> {
  return { [`/peers/${name}`]: join(PEERS, name) };
}

/** A pod that serves by its own files, as nobody, on a root that it cannot write. */
function workload({ name, node, keyType }: (typeof WORKLOADS)[number]): object {
  const wanted = { namespace: TEAM, name, serviceAccount: name, node, signerName: SIGNER, keyType };
  const { spec, ...pod } = podObject(wanted) as { spec: { containers: readonly object[] } };
  const main = {
    image: NODE,
    args: ['/peers/server.ts', ...FILES, '0.0.0.0', String(PORT)],
    readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
    securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  };
  const containers = spec.containers.map((container) => ({ ...container, ...main }));
  const securityContext = { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532 };
  return { ...pod, spec: { ...spec, securityContext, containers } };
}
