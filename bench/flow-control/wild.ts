// SPDX-License-Identifier: Apache-2.0
/**
 * A controller that keeps all seats of its priority level taken, and takes hardly any CPU time.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { freePort } from '../../test/cluster/ports.ts';
import { until } from '../../test/cluster/until.ts';
import { apply } from '../../test/support/cluster/apply.ts';
import { tlsCertificate } from '../../test/support/pki/tls-certificate.ts';
import { TOKEN_DURATION } from '../cluster/ours.ts';

const WILD = 'bench-wild';
const RBAC = { apiGroup: 'rbac.authorization.k8s.io', version: 'rbac.authorization.k8s.io/v1' };
/** Seconds for which a webhook holds each of its requests, and so its seat at the API server. */
const HELD_SECONDS = 2;
/** Twice as many as the API server has seats. */
const REQUESTS_AT_ONCE = 120;
/** The API server looks every ten seconds what a level may borrow (KEP-1040). */
const LENT_AFTER_MS = 12_000;
const WAIT_MS = 20_000;
/** Requests of the level of ServiceAccounts that wait for a seat. */
const WAITING =
  /^apiserver_flowcontrol_current_inqueue_requests\{[^}]*priority_level="workload-low"[^}]*\} (\S+)$/m;
/** A client has 64 connections. */
const CLIENTS = 2;

export interface WildController {
  /**
   * Begins its requests. Resolves once they hold each seat that the level can borrow, and others
   * wait for one.
   *
   * @throws Error if none waits after a while
   */
  readonly begin: () => Promise<void>;
  /** Resolves when its last request has ended. */
  readonly pause: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Creates its ServiceAccount, and the webhook that holds its requests. */
export async function createWildController(cluster: Cluster): Promise<WildController> {
  const webhook = await startWebhook();
  await apply(cluster, { apiVersion: 'v1', kind: 'List', items: objects(webhook) });
  const options = { duration: TOKEN_DURATION };
  const kubeconfig = await cluster.serviceAccountKubeconfig(WILD, WILD, options);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const connection = await loadConnection({ kubeconfig, clock: Date.now });
      const clocks = { clock: Date.now, monotonic: () => performance.now() };
      return createClient({ connection, ...clocks, userAgent: 'countersign-bench-wild' });
    }),
  );
  let running: readonly Promise<void>[] = [];
  let end = new AbortController();
  return {
    begin: async () => {
      end = new AbortController();
      const { signal } = end;
      running = Array.from({ length: REQUESTS_AT_ONCE }, (_, index) =>
        createForever(clients[index % CLIENTS] as Client, signal),
      );
      await delay(LENT_AFTER_MS);
      await until('requests of workload-low wait for a seat', WAIT_MS, async () => {
        const { stdout } = await cluster.kubectl(['get', '--raw', '/metrics']);
        return Number(WAITING.exec(stdout)?.[1] ?? 0) > 0;
      });
    },
    pause: async () => {
      end.abort();
      await Promise.all(running);
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      webhook.server.closeAllConnections();
      webhook.server.close();
    },
  };
}

async function createForever(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'wild-' } };
    // The webhook refuses each one, and the API server some of them (429).
    await client
      .request({ method: 'POST', path: `/api/v1/namespaces/${WILD}/configmaps`, body })
      .catch(() => undefined);
  }
}

interface Webhook {
  readonly server: ReturnType<typeof createServer>;
  readonly port: number;
  readonly cert: string;
}

async function startWebhook(): Promise<Webhook> {
  const { cert, key } = await tlsCertificate('wild-webhook');
  const port = await freePort();
  const server = createServer({ cert, key }, (request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { uid } = (JSON.parse(text) as { request: { uid: string } }).request;
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      const answer = JSON.stringify({ ...review, response: { uid, allowed: false } });
      void delay(HELD_SECONDS * 1000).then(() => response.end(answer));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, port, cert };
}

function objects({ port, cert }: Webhook): readonly object[] {
  const metadata = { name: WILD, namespace: WILD };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: WILD } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: RBAC.version,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
    },
    {
      apiVersion: RBAC.version,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC.apiGroup, kind: 'Role', name: WILD },
      subjects: [{ kind: 'ServiceAccount', namespace: WILD, name: WILD }],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: WILD },
      webhooks: [
        {
          name: 'wild.bench.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: {
            url: `https://127.0.0.1:${port}/`,
            caBundle: Buffer.from(cert).toString('base64'),
          },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': WILD } },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['configmaps'],
              operations: ['CREATE'],
            },
          ],
        },
      ],
    },
  ];
}
