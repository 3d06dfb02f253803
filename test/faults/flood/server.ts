// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { otherAnswer, status } from './other-answers.ts';
import type { Flood } from './requests.ts';

/** How the server takes writes: 200, or a refusal of each. */
export type Mood = 'well' | { readonly status: number; readonly reason: string };

/**
 * As much of an API server as a pcr-issuer talks to, with more pending requests than a real one on
 * two cores could make in an hour. It says nothing of what an API server does with them.
 */
export interface FloodServer {
  readonly url: string;
  mood: Mood;
  /** The CA is there from now on. */
  revealSecret(): void;
  /** Of the flood. */
  readonly told: number;
  readonly issued: number;
  /** Writes with success to what was issued already: none may be. */
  readonly twice: number;
  /** Status writes that came, refused ones too. */
  readonly writes: number;
  stop(): Promise<void>;
}

export interface FloodServerInit {
  readonly flood: Flood;
  readonly signer: object;
  readonly secret: object;
}

const FIRST_VERSION = 10;
const BATCH = 500;
/**
 * The API server sends each watch a bookmark within a minute. A watch that is silent for longer is
 * taken for a dead connection.
 */
const BOOKMARK_MS = 30_000;

export async function startFloodServer(init: FloodServerInit): Promise<FloodServer> {
  const { flood } = init;
  const versions = new Uint32Array(flood.size).map((_each, number) => FIRST_VERSION + number);
  const issued = new Uint8Array(flood.size);
  const requestWatches = new Set<ServerResponse>();
  const secretWatches = new Set<ServerResponse>();
  /** Those whose first list is complete. */
  const listed = new Set<ServerResponse>();
  let version = FIRST_VERSION + flood.size;
  let told = 0;
  let count = 0;
  let twice = 0;
  let writes = 0;
  let hasSecret = false;
  let mood: Mood = 'well';

  function isPending(number: number): boolean {
    return issued[number] === 0;
  }

  function objectOf(number: number): object {
    return flood.object(number, versions[number] ?? 0, !isPending(number));
  }

  async function pour(response: ServerResponse): Promise<void> {
    for (let from = 0; from < flood.size; from += BATCH) {
      let text = '';
      for (let number = from; number < Math.min(from + BATCH, flood.size); number += 1) {
        text += line('ADDED', objectOf(number));
        told += 1;
      }
      if (!response.write(text)) await once(response, 'drain');
    }
  }

  async function watch(path: string, response: ServerResponse, listing: boolean): Promise<void> {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (listing && path.endsWith('/clustersigners')) response.write(line('ADDED', init.signer));
    if (path.endsWith('/secrets')) {
      secretWatches.add(response);
      if (listing && hasSecret) response.write(line('ADDED', init.secret));
    }
    if (path.endsWith('/podcertificaterequests')) {
      if (listing) await pour(response);
      requestWatches.add(response);
    }
    response.write(bookmark(version, listing));
    listed.add(response);
    response.once('close', () => {
      listed.delete(response);
      requestWatches.delete(response);
      secretWatches.delete(response);
    });
  }

  function write(number: number, response: ServerResponse): void {
    writes += 1;
    if (mood !== 'well') {
      answer(response, mood.status, status(mood.status, mood.reason));
      return;
    }
    if (!isPending(number)) twice += 1;
    else count += 1;
    issued[number] = 1;
    version += 1;
    versions[number] = version;
    const echo = line('MODIFIED', objectOf(number));
    for (const each of requestWatches) each.write(echo);
    const { metadata } = objectOf(number) as { metadata: object };
    answer(response, 200, {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for await (const _chunk of request);
    const url = new URL(request.url ?? '/', 'http://flood');
    const { pathname } = url;
    const number = flood.numberIn(pathname);
    if (url.searchParams.get('watch') !== null) {
      await watch(pathname, response, url.searchParams.get('sendInitialEvents') !== null);
    } else if (request.method === 'PUT' && number !== undefined) write(number, response);
    else if (number !== undefined) answer(response, 200, objectOf(number));
    else answerOther(response, request.method ?? '', pathname);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bookmarks = setInterval(() => {
    for (const each of listed) each.write(bookmark(version, false));
  }, BOOKMARK_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get mood() {
      return mood;
    },
    set mood(now) {
      mood = now;
    },
    revealSecret: () => {
      hasSecret = true;
      version += 1;
      const secret = init.secret as { metadata: object };
      const metadata = { ...secret.metadata, resourceVersion: String(version) };
      for (const each of secretWatches) each.write(line('ADDED', { ...secret, metadata }));
    },
    get told() {
      return told;
    },
    get issued() {
      return count;
    },
    get twice() {
      return twice;
    },
    get writes() {
      return writes;
    },
    stop: async () => {
      clearInterval(bookmarks);
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answerOther(response: ServerResponse, method: string, path: string): void {
  const { code, body } = otherAnswer(method, path);
  answer(response, code, body);
}

function answer(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function bookmark(version: number, initialEnd: boolean): string {
  const annotations = initialEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
  return line('BOOKMARK', { metadata: { resourceVersion: String(version), annotations } });
}
