// SPDX-License-Identifier: Apache-2.0
/**
 * Workloads whose pods mount Secrets, and what cert-manager would write: Certificates,
 * CertificateRequests and their statuses. The controllers of the cluster make pods and rollouts of
 * it.
 */
import { join } from 'node:path';
import type { KubeObject } from '#api/object/object.ts';
import type { Workload } from '#api/workload/workload.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { renderRbac } from '#install/render.ts';
import { DEMO } from '../../../build/demo-installation.ts';
import { RESTARTED_AT } from '#workloads/refresh/record.ts';
import { rolloutOf } from '#workloads/refresh/rollout.ts';
import { applyCrds } from '../../certmanager/crds.ts';
import { established } from '../../cluster/established.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CERT_MANAGER = '/apis/cert-manager.io/v1/namespaces';
export const APPS = '/apis/apps/v1';
/** Hundreds of pods on two cores. */
export const PATIENCE_MS = process.env['REFRESH'] === 'long' ? 1_200_000 : 240_000;

export type Kind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

const PLURALS = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
} as const;

export interface WantedWorkload {
  readonly namespace: string;
  readonly name: string;
  readonly kind?: Kind;
  readonly secrets: readonly string[];
  /** The annotation that opts in. */
  readonly wish?: string;
}

export async function administrator({ kubeconfig }: Cluster): Promise<Client> {
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  return createClient({ connection, ...clocks, userAgent: 'countersign-test' });
}

/** cert-manager's definitions, and what an administrator applies for pod-refresher. */
export async function install(cluster: Cluster): Promise<void> {
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds')]);
  await established(cluster, 'crd/clustersigners.countersign.dev');
  await applyCrds(cluster);
  for (const file of ['refreshed', 'components', 'leases']) {
    await cluster.kubectl(['apply', '-f', join(ROOT, `deploy/admission/${file}.yaml`)]);
  }
  await grantRefresher(cluster);
}

/** The roles of pod-refresher, which an installation without it leaves out. */
export async function grantRefresher(cluster: Cluster): Promise<void> {
  const roles = renderRbac({ ...DEMO, optionalComponents: ['pod-refresher'] });
  const input = roles.get('pod-refresher.yaml') ?? '';
  await cluster.kubectl(['apply', '-f', '-'], { input });
}

/** pod-refresher with its own token, and limits that a test can reach. */
export async function startRefresher(
  cluster: Cluster,
  args: readonly string[] = [],
): Promise<ComponentProcess> {
  const account = 'countersign-pod-refresher';
  const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, account);
  return startComponent({
    name: 'pod-refresher',
    kubeconfig,
    args: [
      '--debounce',
      '1s',
      '--concurrent',
      '8',
      '--namespace-concurrent',
      '2',
      '--restarts-per-minute',
      '1000',
      '--namespace-restarts-per-minute',
      '1000',
      ...args,
    ],
  });
}

/** The objects of one cluster, by an administrator. */
export class Stand {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  create(path: string, body: object): Promise<KubeObject> {
    return this.#client.request({ method: 'POST', path, body });
  }

  get<T>(path: string): Promise<T> {
    return this.#client.request<T>({ method: 'GET', path });
  }

  patch(path: string, body: object): Promise<KubeObject> {
    const contentType = 'application/merge-patch+json';
    return this.#client.request({ method: 'PATCH', path, body, contentType });
  }

  delete(path: string): Promise<unknown> {
    return this.#client.request({ method: 'DELETE', path });
  }

  async namespace(name: string, refresh = 'enabled'): Promise<void> {
    const labels = { 'countersign.dev/refresh': refresh };
    await this.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
    });
  }

  /** A Secret and its Certificate, as cert-manager leaves them after the first issuance. */
  async certificate(namespace: string, secretName: string): Promise<void> {
    const data = { 'tls.crt': '', 'tls.key': '' };
    await this.create(`/api/v1/namespaces/${namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name: secretName },
      data,
    });
    await this.create(`${CERT_MANAGER}/${namespace}/certificates`, {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      metadata: { name: secretName },
      spec: { secretName, issuerRef: { name: 'ca' }, commonName: secretName },
    });
    await this.issue(namespace, secretName, 1);
  }

  /**
   * The certificate of a revision: first the request, then the Secret, then the revision of the
   * Certificate.
   *
   * @returns the certificate, PEM
   */
  async issue(namespace: string, secretName: string, revision: number): Promise<string> {
    const name = `${secretName}-${revision}`;
    const requests = `${CERT_MANAGER}/${namespace}/certificaterequests`;
    const { cert } = await tlsCertificate(name);
    const certificate = await this.get<KubeObject>(
      `${CERT_MANAGER}/${namespace}/certificates/${secretName}`,
    );
    const owner = { name: secretName, uid: certificate.metadata.uid, controller: true };
    await this.create(requests, {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: {
        name,
        ownerReferences: [{ apiVersion: 'cert-manager.io/v1', kind: 'Certificate', ...owner }],
        annotations: {
          'cert-manager.io/certificate-name': secretName,
          'cert-manager.io/certificate-revision': String(revision),
        },
      },
      spec: { request: 'YQ==', issuerRef: { name: 'ca' } },
    });
    const time = { lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z` };
    await this.patch(`${requests}/${name}/status`, {
      status: {
        conditions: [
          { type: 'Approved', status: 'True', reason: 'Test', message: '', ...time },
          { type: 'Ready', status: 'True', reason: 'Issued', message: '', ...time },
        ],
        certificate: Buffer.from(cert).toString('base64'),
      },
    });
    const data = { 'tls.crt': Buffer.from(cert).toString('base64') };
    await this.patch(`/api/v1/namespaces/${namespace}/secrets/${secretName}`, { data });
    const path = `${CERT_MANAGER}/${namespace}/certificates/${secretName}/status`;
    await this.patch(path, { status: { revision } });
    return cert;
  }

  async workload(wanted: WantedWorkload): Promise<void> {
    const { namespace, kind = 'Deployment' } = wanted;
    const path = `${APPS}/namespaces/${namespace}/${PLURALS[kind]}`;
    await this.create(path, workloadBody(wanted));
  }

  async workloads(): Promise<readonly Workload[]> {
    const lists = await Promise.all(
      (Object.keys(PLURALS) as Kind[]).map(async (kind) => {
        const path = `${APPS}/${PLURALS[kind]}`;
        const { items } = await this.get<{ readonly items: readonly Workload[] }>(path);
        return items.map((each) => ({ ...each, apiVersion: 'apps/v1', kind }));
      }),
    );
    return lists.flat();
  }

  async untilRolledOut(): Promise<void> {
    await until('all rollouts are complete', PATIENCE_MS, async () => {
      const all = await this.workloads();
      // One that is paused is not waited for.
      return all.every((each) => rolloutOf(each).kind !== 'progressing');
    });
  }

  /** The reasons of the Events about an object. */
  async reasons(namespace: string, name: string): Promise<readonly string[]> {
    const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const { items } = await this.get<{
      readonly items: readonly { reason: string; regarding: { name: string } }[];
    }>(path);
    return items.filter(({ regarding }) => regarding.name === name).map(({ reason }) => reason);
  }
}

/** Rollouts in progress that pod-refresher began, by namespace. */
export function refreshing(all: readonly Workload[]): ReadonlyMap<string, number> {
  const running = all.filter(
    (each) =>
      each.metadata.labels?.[RESTARTED_AT] !== undefined && rolloutOf(each).kind === 'progressing',
  );
  const groups = Map.groupBy(running, ({ metadata }) => metadata.namespace ?? '');
  return new Map([...groups].map(([namespace, found]) => [namespace, found.length]));
}

function workloadBody({ name, kind = 'Deployment', secrets, wish }: WantedWorkload): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: {
      name,
      ...(wish === undefined ? {} : { annotations: { 'countersign.dev/refresh': wish } }),
    },
    spec: {
      ...(kind === 'DaemonSet' ? {} : { replicas: 1 }),
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'main',
              image: 'registry.k8s.io/pause:3.10',
              volumeMounts: secrets.map((each) => ({ name: each, mountPath: `/run/${each}` })),
            },
          ],
          volumes: secrets.map((each) => ({ name: each, secret: { secretName: each } })),
        },
      },
    },
  };
}
