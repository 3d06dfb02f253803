// SPDX-License-Identifier: Apache-2.0
/**
 * A webhook and an aggregated API that the API server asks, both by one server with the leaf that
 * was issued last.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import type { Client } from '#kube/client/client.ts';
import { messageOf } from '#base/errors.ts';

const NAMESPACE = 'asked';
const GROUP = 'asked.example.org';

/** The name in its leaves: the API server verifies that of the Service. */
export const HOST = `server.${NAMESPACE}.svc`;

/** Whose `caBundle` the API server verifies it by. */
export const ASKED: readonly CaBundleTarget[] = [
  { resource: 'validatingwebhookconfigurations', name: 'asked' },
  { resource: 'apiservices', name: `v1.${GROUP}` },
];

/** A certificate with its key, in PEM. */
export interface Pair {
  readonly key: string;
  readonly cert: string;
}

/** Answers what the API server asks, each time on a connection of its own. */
export class AskedServer {
  readonly #server: Server;
  /** Handshakes that were completed. */
  handshakes = 0;

  constructor() {
    this.#server = createServer({}, answer);
    this.#server.on('secureConnection', () => {
      this.handshakes += 1;
    });
    // A refused leaf ends a handshake: whoever refused it says so.
    this.#server.on('tlsClientError', () => undefined);
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  present(pair: Pair): void {
    this.#server.setSecureContext(pair);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = contentOf(request, Buffer.concat(parts).toString());
    const headers = { 'content-type': 'application/json', connection: 'close' };
    response.writeHead(body === undefined ? 404 : 200, headers);
    response.end(JSON.stringify(body ?? {}));
  });
}

function contentOf({ method, url = '' }: IncomingMessage, text: string): object | undefined {
  const path = url.split('?')[0];
  if (method === 'POST' && path === '/review') {
    const { apiVersion, kind, request } = JSON.parse(text) as Review;
    return { apiVersion, kind, response: { uid: request.uid, allowed: true } };
  }
  if (path === `/apis/${GROUP}/v1`)
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `${GROUP}/v1`,
      resources: [],
    };
  return path === PING ? { kind: 'Pong' } : undefined;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string };
}

const PING = `/apis/${GROUP}/v1/ping`;

/**
 * The objects by which the API server finds the server, as YAML. @param signerName - whom their
 * owners name
 */
export function askedObjects(port: number, signerName: string): string {
  const annotations = { 'countersign.dev/signer-name': signerName };
  const service = { namespace: NAMESPACE, name: 'server', port };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: NAMESPACE, name: 'server' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'asked', annotations },
      webhooks: [
        {
          name: 'review.asked.example.org',
          sideEffects: 'None',
          failurePolicy: 'Fail',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { ...service, path: '/review' } },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
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
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1.${GROUP}`, annotations },
      spec: {
        group: GROUP,
        version: 'v1',
        service,
        groupPriorityMinimum: 100,
        versionPriority: 10,
      },
    },
  ]
    .map((each) => JSON.stringify(each))
    .join('\n---\n');
}

/** Has the API server ask both. @returns why it could not; nothing where all is well */
export async function ask(client: Client): Promise<readonly string[]> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'asked-' } };
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
  const calls: readonly (readonly [string, Promise<unknown>])[] = [
    ['webhook', client.request({ method: 'POST', path, query: { dryRun: 'All' }, body })],
    ['APIService', client.request({ method: 'GET', path: PING })],
  ];
  const answers = await Promise.allSettled(calls.map(([, call]) => call));
  return answers.flatMap((each, at) =>
    each.status === 'fulfilled' ? [] : [`${calls[at]?.[0] ?? ''}: ${messageOf(each.reason)}`],
  );
}
