// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening, timeoutsOf, type RunningServer } from '#component/web/server.ts';

/** A CRL to serve. Times are in milliseconds. */
export interface ServedList {
  readonly der: Uint8Array;
  readonly thisUpdate: number;
  readonly nextUpdate: number;
}

/** Dependencies of the port for CRLs. */
export interface CrlServerInit {
  /** `host:port`; port 0 chooses a free one. */
  readonly listen: string;
  /** @param hex - 64 digits: the fingerprint of the CA */
  readonly listOf: (hex: string) => ServedList | undefined;
  /** Reports whether every CRL is known. Until then the server cannot answer 404. */
  readonly isComplete: () => boolean;
  readonly clock: () => number;
}

/** The path that `profile.crl.urls` ends in. */
const PATH = /^\/(?<hex>[0-9a-f]{64})\.crl$/;
const MAX_QUESTION_BYTES = 8 * 1024;
const MAX_ASKING = 1_024;
/** Longest time for which a proxy may cache a CRL, so that revocations take effect soon. */
const MAX_AGE_SECONDS = 300;

/**
 * Serves CRLs over HTTP (RFC 5280 §4.2.1.13, RFC 2585 §4). CRLs are public and signed, so TLS would
 * only add another certificate to verify. It accepts only GET and HEAD.
 * @throws SignerError USAGE when it cannot listen there
 */
export async function serveLists(init: CrlServerInit): Promise<RunningServer> {
  const options = { ...timeoutsOf(), maxHeaderSize: MAX_QUESTION_BYTES };
  const server = createServer(options, (request, response) => {
    answer(init, request, response);
  });
  // Sends no "100 Continue", because it does not read a body.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  return listening(server, {
    listen: init.listen,
    maxConnections: MAX_ASKING,
    flag: '--listen-crl',
  });
}

function answer(init: CrlServerInit, request: IncomingMessage, response: ServerResponse): void {
  const found = answerTo(init, request);
  if (typeof found === 'number') refuse(request, response, found);
  else send(init, request, response, found);
}

/** Returns a CRL, or the status of a rejection. */
function answerTo(
  { listOf, isComplete }: CrlServerInit,
  { method = '', url = '' }: IncomingMessage,
): ServedList | number {
  const hex = fingerprintIn(url);
  if (hex === undefined) return 404;
  if (method !== 'GET' && method !== 'HEAD') return 405;
  return listOf(hex) ?? (isComplete() ? 404 : 503);
}

function fingerprintIn(url: string): string | undefined {
  const [path = ''] = url.split('?', 1);
  return PATH.exec(path)?.groups?.['hex'];
}

function send(
  { clock }: CrlServerInit,
  request: IncomingMessage,
  response: ServerResponse,
  { der, thisUpdate, nextUpdate }: ServedList,
): void {
  const tag = `"${createHash('sha256').update(der).digest('hex').slice(0, 32)}"`;
  const left = Math.floor((nextUpdate - clock()) / 1000);
  const headers = {
    etag: tag,
    'last-modified': new Date(thisUpdate).toUTCString(),
    expires: new Date(nextUpdate).toUTCString(),
    'cache-control': `public, max-age=${Math.max(0, Math.min(left, MAX_AGE_SECONDS))}`,
    'x-content-type-options': 'nosniff',
  };
  if (isUnchanged(request, tag, thisUpdate)) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    'content-type': 'application/pkix-crl',
    'content-length': der.length,
  });
  response.end(request.method === 'HEAD' ? undefined : der);
}

/**
 * Reports whether the client has the current CRL. If-None-Match takes precedence over
 * If-Modified-Since (RFC 9110 §13.1).
 */
function isUnchanged({ headers }: IncomingMessage, tag: string, thisUpdate: number): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined) {
    return tags.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')));
  }
  return since !== undefined && Date.parse(since) >= Math.floor(thisUpdate / 1000) * 1000;
}

const TEXTS: Readonly<Record<number, string>> = {
  404: 'not found\n',
  405: 'method not allowed\n',
  503: 'starting\n',
};

/** Rejects a request. It closes the connection, because the body is not read. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  const body = TEXTS[status] ?? '';
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
