// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster whose pods run, with the operator's own manifests. The images of both versions have
 * cert-manager's code of test/certmanager/program: its controllers, its webhook and its cainjector,
 * put together as its commands do.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildCertManager } from '../certmanager/build.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { established } from '../cluster/established.ts';
import type { PodImages } from '../cluster/real-pods/types.ts';
import { until } from '../cluster/until.ts';
import { differencesIn } from '../operator/healed.ts';
import { apply } from '../support/cluster/apply.ts';
import { auditedWrites } from '../support/cluster/audit.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import {
  RELEASE_KEY,
  releaseMapOf,
  type CertManagerDeployment,
  type CertManagerSpec,
} from '#api/operator/cert-manager-deployment.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { certManagerOperatorManifests } from '#install/cert-manager-operator/installed.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { createWriter, type ObjectWriter } from '#kube/apply/writer.ts';
import { ALLOWED, NEW, OLD, SETTINGS } from './releases.ts';

const ROOT = join(import.meta.dirname, '../..');
export const SYSTEM = 'countersign-cert-manager';
export const USER = `system:serviceaccount:${SYSTEM}:countersign-cert-manager-operator`;
export const WAIT_MS = 120_000;
const NONROOT = 65_532;

/** As `countersign rbac --cert-manager-operator` prints it with the sum of {@link OLD}. */
const INSTALLED = certManagerOperatorManifests({
  namespace: SYSTEM,
  image: 'countersign',
  version: '0.1.0',
  ...SETTINGS,
});

export interface Stand {
  readonly cluster: Cluster;
  /** The administrator's. */
  readonly client: Client;
  readonly admin: ObjectWriter;
  /** Starts the operator under its own ServiceAccount, with the sum of {@link OLD}. */
  start(): Promise<ComponentProcess>;
  /** Applies the operator's roles. */
  grant(): Promise<void>;
  /** Makes the ConfigMap of a release, or replaces it. */
  hand(version: string, file: Uint8Array): Promise<void>;
  /** Applies the object with this spec, and lets the operator look at once. */
  install(spec: CertManagerSpec): Promise<void>;
  read(): Promise<CertManagerDeployment | undefined>;
  /** Waits for a condition of the present generation. */
  condition(type: string, status: string, reason?: string): Promise<string>;
  /** What of these is not as it is desired. */
  differences(objects: readonly ManagedObject[]): Promise<readonly string[]>;
  healed(objects: readonly ManagedObject[]): Promise<unknown>;
  /**
   * Successful writes of the operator: `verb resource name`, without its Lease, Events and reviews.
   */
  writes(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** @param realPods - without them the API server is all that is asked */
export async function startStand({ realPods }: { readonly realPods: boolean }): Promise<Stand> {
  const directory = makeDirectory();
  const cluster = await startCluster(
    realPods
      ? { realPods, nodes: 1, images: await imagesIn(join(directory, 'image')) }
      : { nodes: 0 },
  );
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  const client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  const admin = createWriter(client, 'somebody-else');
  const processes: ComponentProcess[] = [];
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds/operator')]);
  await established(cluster, 'crd/certmanagerdeployments.operator.countersign.dev');
  const grant = (): Promise<void> =>
    apply(cluster, ...INSTALLED.filter(({ kind }) => kind !== 'Deployment'));
  await grant();
  const read = (): Promise<CertManagerDeployment | undefined> => readIn(cluster);
  const differences = async (objects: readonly ManagedObject[]): Promise<readonly string[]> =>
    differencesIn(admin, ownerOf(await read()), objects);
  let asked = 0;
  return {
    cluster,
    client,
    admin,
    grant,
    read,
    differences,
    start: async () => {
      const account = 'countersign-cert-manager-operator';
      const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM, account);
      const args = ['--lease-namespace', SYSTEM, ALLOWED];
      const started = await startComponent({ name: 'cert-manager-operator', kubeconfig, args });
      processes.push(started);
      return started;
    },
    hand: (version, file) => hand(cluster, version, file),
    install: (spec) => {
      asked += 1;
      return apply(cluster, objectOf(spec, asked));
    },
    condition: (type, status, reason) =>
      until(`${type} is ${status} ${reason ?? ''}`, WAIT_MS, async () => {
        const object = await read();
        const found = object?.status?.conditions?.find((each) => each.type === type);
        const fits = found?.status === status && (reason === undefined || found.reason === reason);
        if (fits && found.observedGeneration === object?.metadata.generation)
          return found.message ?? ' ';
        throw new Error(JSON.stringify(object?.status?.conditions ?? 'no status'));
      }),
    healed: (objects) =>
      until('everything is as desired', WAIT_MS, async () => {
        const left = await differences(objects);
        if (left.length === 0) return true;
        throw new Error(left.join('\n'));
      }),
    writes: () => auditedWrites(cluster, USER),
    close: async () => {
      await Promise.all(processes.map((each) => each.kill()));
      await client.close();
      await cluster.stop();
      removeDirectory(directory);
    },
  };
}

function objectOf(spec: CertManagerSpec, asked: number): object {
  return {
    apiVersion: 'operator.countersign.dev/v1alpha1',
    kind: 'CertManagerDeployment',
    metadata: { name: 'cluster', annotations: { 'example.com/asked': String(asked) } },
    spec,
  };
}

async function readIn(cluster: Cluster): Promise<CertManagerDeployment | undefined> {
  const args = ['get', 'certmanagerdeployments', 'cluster', '-o', 'json'];
  const { code, stdout } = await cluster.kubectl(args, { allowFailure: true });
  return code === 0 ? (JSON.parse(stdout) as CertManagerDeployment) : undefined;
}

function ownerOf(object: CertManagerDeployment | undefined): Parameters<typeof differencesIn>[1] {
  if (object === undefined) throw new Error('there is no CertManagerDeployment');
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, label: 'cert-manager' };
}

async function hand(cluster: Cluster, version: string, file: Uint8Array): Promise<void> {
  const metadata = { name: releaseMapOf(version), namespace: SYSTEM };
  const binaryData = { [RELEASE_KEY]: Buffer.from(file).toString('base64') };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, binaryData };
  await cluster.kubectl(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(map) });
}

/** A release as a user compresses it. */
export function packed(text: string): Uint8Array {
  return gzipSync(text);
}

/** One program, by the name of every image of both releases. */
async function imagesIn(root: string): Promise<PodImages> {
  const program = await buildCertManager((line) => {
    console.error(line);
  });
  mkdirSync(root, { recursive: true });
  copyFileSync(program, join(root, 'cert-manager'));
  const parts = ['controller', 'webhook', 'cainjector'];
  return Object.fromEntries(
    [OLD, NEW].flatMap((version) =>
      parts.map((part) => [
        `quay.io/jetstack/cert-manager-${part}:v${version}`,
        {
          root,
          uid: NONROOT,
          entrypoint: ['/cert-manager', `${part}-pod`],
          env: ['TMPDIR=/dev/shm'],
        },
      ]),
    ),
  );
}
