// SPDX-License-Identifier: Apache-2.0
/**
 * As much of an API server as a pcr-issuer talks to, in TLS and protobuf, that does nothing with
 * what it is told but to answer. A process of its own:
 * `server.ts <requests> <file for its kubeconfig>`. It prints a line when it listens, and whenever
 * so many are issued.
 */
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { otherAnswer } from '../../test/faults/flood/other-answers.ts';
import { createSignerObjects } from '../../test/faults/flood/signer.ts';
import { tlsCertificate } from '../../test/support/pki/tls-certificate.ts';
import { CONTENT_TYPE, createMessages, numberIn, statusOf } from './messages.ts';

const [count = '', kubeconfig = ''] = process.argv.slice(2);
const size = Number(count);
const FIRST_VERSION = 1_000_000;
const BATCH = 100;
/**
 * About what a write takes when the API server is busy; it decides how many answers come together.
 */
const ANSWER_MS = 15;

const messages = createMessages(size);
const { signer, secret } = await createSignerObjects();
const { cert, key } = await tlsCertificate('path');
const watches = new Set<ServerResponse>();
let version = FIRST_VERSION + size;
let issued = 0;

const server = createServer({ cert, key }, (request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 90_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
writeFileSync(kubeconfig, JSON.stringify(configFor(url)), { mode: 0o600 });
console.log('listening');

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { pathname, searchParams } = new URL(request.url ?? '/', url);
  const number = numberIn(pathname);
  if (searchParams.get('watch') !== null) await watch(pathname, response);
  else if (request.method === 'PUT' && number !== undefined) {
    await write(number, Buffer.concat(chunks), response);
  } else answerOther(response, request.method ?? '', pathname);
}

async function write(number: number, body: Buffer, response: ServerResponse): Promise<void> {
  const status = statusOf(body);
  await sleep(ANSWER_MS);
  version += 1;
  const echo = messages.frame('MODIFIED', number, version, status);
  for (const each of watches) each.write(echo);
  const answer = messages.metadataAlone(number, version);
  response.writeHead(200, {
    ...COMMON,
    'content-type': CONTENT_TYPE,
    'content-length': answer.length,
  });
  response.end(answer);
  issued += 1;
  if (issued === 1 || issued % 1_000 === 0 || issued === size) console.log(`issued ${issued}`);
}

async function watch(path: string, response: ServerResponse): Promise<void> {
  const isRequests = path.endsWith('/podcertificaterequests');
  const type = isRequests ? `${CONTENT_TYPE};stream=watch` : 'application/json';
  response.writeHead(200, { ...COMMON, 'content-type': type });
  response.flushHeaders();
  if (!isRequests) {
    if (path.endsWith('/clustersigners')) response.write(line('ADDED', signer));
    if (path.endsWith('/secrets')) response.write(line('ADDED', secret));
    response.write(lineBookmark());
    return;
  }
  for (let from = 0; from < size; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, size - from) }, (_, at) => from + at);
    const frames = numbers.map((each) => messages.frame('ADDED', each, FIRST_VERSION + each));
    if (!response.write(Buffer.concat(frames))) await once(response, 'drain');
  }
  response.write(messages.bookmark(version, true));
  watches.add(response);
}

/** What an API server says besides. */
const COMMON = {
  'audit-id': '6bb1dbb5-6b9f-4b2e-8f0a-b6c0e7a2f1d5',
  'cache-control': 'no-cache, private',
  'x-kubernetes-pf-flowschema-uid': '0d4c1b3e-7f0c-4a70-8f2f-3d1d3ee6b7a1',
  'x-kubernetes-pf-prioritylevel-uid': '3f0c6a52-9a8f-4e0d-a3d7-5f7a2f0f4a11',
};

function answerOther(response: ServerResponse, method: string, path: string): void {
  const { code, body } = otherAnswer(method, path);
  answer(response, code, body);
}

function answer(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { ...COMMON, 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function lineBookmark(): string {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return line('BOOKMARK', { metadata: { resourceVersion: String(version), annotations } });
}

function configFor(address: string): object {
  const name = 'path';
  const authority = Buffer.from(cert).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: address, 'certificate-authority-data': authority } }],
    users: [{ name, user: { token: 'x'.repeat(1_000) } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
}
