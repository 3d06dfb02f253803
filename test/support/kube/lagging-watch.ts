// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { watchFeed } from './watch-feed.ts';

/** An API server in memory whose watches of requests lag as far behind as a test lets them. */
export interface LaggingRequests {
  readonly stored: ReadonlyMap<string, CertificateSigningRequest>;
  /** Names of the requests whose status was written, one for each write that was stored. */
  readonly writes: readonly string[];
  client(signer: object): LaggingClient;
  create(request: CertificateSigningRequest): void;
}

export interface LaggingClient extends Client {
  /** Lets the next `count` lines of the watch of requests through. */
  readonly deliver: (count: number) => void;
  /** Lines that are held back. */
  readonly held: () => number;
  /** The next PUT is stored, and its answer lost. */
  loseAnswer: boolean;
}

export function laggingRequests(): LaggingRequests {
  const stored = new Map<string, CertificateSigningRequest>();
  const writes: string[] = [];
  const feeds: ((line: object) => void)[] = [];
  let version = 100;

  function put(request: CertificateSigningRequest, type: string): CertificateSigningRequest {
    version += 1;
    const metadata = { ...request.metadata, resourceVersion: String(version) };
    const now = { ...request, metadata };
    stored.set(metadata.name, now);
    for (const feed of feeds) feed({ type, object: now });
    return now;
  }

  function answer({ method, path, body }: RequestInit): CertificateSigningRequest {
    const name = path.split('/')[5] ?? '';
    const known = stored.get(name);
    if (known === undefined) throw refusal(404);
    if (method === 'GET') return known;
    const sent = body as CertificateSigningRequest;
    if (sent.metadata.resourceVersion !== known.metadata.resourceVersion) throw refusal(409);
    writes.push(name);
    return put(sent, 'MODIFIED');
  }

  function client(signer: object): LaggingClient {
    const behind: object[] = [];
    let send: (line: object) => void = () => undefined;
    feeds.push((line) => behind.push(line));
    const self: LaggingClient = {
      loseAnswer: false,
      deliver: (count) => {
        for (const line of behind.splice(0, count)) send(line);
      },
      held: () => behind.length,
      request: async <T>(request: RequestInit) => {
        await Promise.resolve();
        const given = answer(request) as T;
        if (request.method === 'PUT' && self.loseAnswer) {
          self.loseAnswer = false;
          throw refusal(0);
        }
        return given;
      },
      stream: ({ path, signal }) => {
        const watch = watchFeed(signal);
        const isRequests = path.endsWith('certificatesigningrequests');
        if (isRequests) send = watch.send;
        const now = isRequests ? [...stored.values()] : [signer];
        for (const object of now) watch.send({ type: 'ADDED', object });
        watch.send(end(version));
        return Promise.resolve(watch.chunks);
      },
      clockOffset: () => 0,
      close: () => Promise.resolve(),
    };
    return self;
  }

  return { stored, writes, client, create: (request) => void put(request, 'ADDED') };
}

function end(version: number): object {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return {
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: String(version), annotations } },
  };
}

function refusal(status: number): KubeError {
  return new KubeError({ status, what: 'a request', body: {} });
}
