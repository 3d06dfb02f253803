// SPDX-License-Identifier: Apache-2.0
/**
 * The port of the ledger: components append to it, whoever asks gets the files of its logs, and the API server passes on
 * who reads records.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { serveTls, type HttpsServer, type TlsInit } from './https-server.ts';

/** What the port answers from. */
export interface LedgerServerInit extends TlsInit {
  /** Where a batch is posted. */
  readonly appendPath: string;
  /** Bytes of a batch. */
  readonly mostBytes: number;
  readonly append: (
    token: string,
    body: string,
  ) => Promise<{ readonly status: number; readonly body: string }>;
  /** A file of a log; nothing where there is none. */
  readonly file: (path: string) => Promise<Uint8Array | undefined>;
  /** The aggregated API, below `/apis`. */
  readonly api: (request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
    readonly certificate?: { readonly commonName: string; readonly raw: Uint8Array };
    readonly body?: string;
  }) => Promise<ApiAnswer>;
}

/** JSON, or the bytes of a file. */
interface ApiAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
}

/** A batch of 16 MiB through a slow network. */
const BATCH_TIMEOUT_MS = 30_000;
/** 500 names of records have 10 KiB. */
const MOST_OBJECT_BYTES = 64 * 1024;
/** Replicas of components, and who reads tiles. */
const MOST_CONNECTIONS = 1_024;

/**
 * Serves the port over TLS, with a certificate that is read again.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export function serveLedger(init: LedgerServerInit): Promise<HttpsServer> {
  const limits = { requestTimeoutMs: BATCH_TIMEOUT_MS, mostConnections: MOST_CONNECTIONS };
  return serveTls({ ...init, ...limits }, (request, response) => {
    answerTo(init, request).then(
      (answer) => {
        send(request, response, answer);
      },
      // Express would send a stack trace, and nobody answering would keep the client waiting.
      () => {
        send(request, response, { status: 500, body: 'internal error\n' });
      },
    );
  });
}

interface Answer extends ApiAnswer {
  readonly contentType?: string;
}

async function answerTo(init: LedgerServerInit, request: IncomingMessage): Promise<Answer> {
  const { method, url = '' } = request;
  const [path = ''] = url.split('?', 1);
  if (method === 'POST' && path === init.appendPath) return append(init, request);
  if (path === '/apis' || path.startsWith('/apis/')) return apiAnswer(init, request);
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'method not allowed\n' };
  const file = await init.file(path);
  return file === undefined ? { status: 404, body: 'not found\n' } : { status: 200, body: file };
}

async function apiAnswer(init: LedgerServerInit, request: IncomingMessage): Promise<Answer> {
  const { method = '', url = '', headersDistinct: headers } = request;
  const certificate = certificateOf(request);
  const known = certificate === undefined ? {} : { certificate };
  const body = method === 'POST' ? await bodyOf(request, MOST_OBJECT_BYTES) : '';
  if (body === undefined) return { status: 413, body: 'the object is too large\n' };
  const answer = await init.api({ url, method, headers, ...known, body });
  return typeof answer.body === 'string' ? { ...answer, contentType: 'application/json' } : answer;
}

/** Of a client that TLS has verified. */
function certificateOf({
  socket,
}: IncomingMessage): { readonly commonName: string; readonly raw: Uint8Array } | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject, raw } = socket.getPeerCertificate();
  // Several common names are a list, whatever the types say; none of them counts.
  const commonName: unknown = subject.CN;
  return { commonName: typeof commonName === 'string' ? commonName : '', raw };
}

async function append(init: LedgerServerInit, request: IncomingMessage): Promise<Answer> {
  const body = await bodyOf(request, init.mostBytes);
  if (body === undefined) return { status: 413, body: 'the batch is too large\n' };
  return init.append(tokenIn(request.headers.authorization ?? ''), body);
}

function tokenIn(header: string): string {
  return /^Bearer (\S+)$/.exec(header)?.[1] ?? '';
}

/** Nothing for a body that is too long. */
async function bodyOf(request: IncomingMessage, most: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const { status, body } = answer;
  const isText = typeof body === 'string';
  const byBody = isText ? 'text/plain; charset=utf-8' : 'application/octet-stream';
  response.writeHead(status, {
    'content-type': answer.contentType ?? byBody,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Whoever is refused here may find a replica that takes it on the next connection.
    ...(status === 200 ? {} : { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
