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
  /** `read` gives the batch, or an answer where it is not taken. Nothing of it is kept before that. */
  readonly append: (
    token: string,
    read: () => Promise<string | Refusal>,
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

/** Why a body is not taken. */
interface Refusal {
  readonly status: 413 | 503;
  readonly body: string;
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
/** Of the greatest size, in memory at a time: a batch has 1 MiB, and each component sends one after the other. */
const MOST_BATCHES = 4;
/** Replicas of components, and who reads tiles. */
const MOST_CONNECTIONS = 1_024;

/**
 * Serves the port over TLS, with a certificate that is read again.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export function serveLedger(init: LedgerServerInit): Promise<HttpsServer> {
  const limits = { requestTimeoutMs: BATCH_TIMEOUT_MS, mostConnections: MOST_CONNECTIONS };
  const room = new Room(MOST_BATCHES * init.mostBytes);
  return serveTls({ ...init, ...limits }, (request, response) => {
    answerTo(init, room, request).then(
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

async function answerTo(
  init: LedgerServerInit,
  room: Room,
  request: IncomingMessage,
): Promise<Answer> {
  const { method, url = '' } = request;
  const [path = ''] = url.split('?', 1);
  if (method === 'POST' && path === init.appendPath) return append(init, room, request);
  if (path === '/apis' || path.startsWith('/apis/')) return apiAnswer(init, request);
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'method not allowed\n' };
  const file = await init.file(path);
  return file === undefined ? { status: 404, body: 'not found\n' } : { status: 200, body: file };
}

async function apiAnswer(init: LedgerServerInit, request: IncomingMessage): Promise<Answer> {
  const { method = '', url = '', headersDistinct: headers } = request;
  const certificate = certificateOf(request);
  const known = certificate === undefined ? {} : { certificate };
  const body =
    method === 'POST'
      ? await bodyOf(request, new Room(MOST_OBJECT_BYTES).part(MOST_OBJECT_BYTES))
      : '';
  if (typeof body !== 'string') return body;
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

/** Whoever reaches the port can send: only of those who may append is anything kept. */
async function append(
  init: LedgerServerInit,
  room: Room,
  request: IncomingMessage,
): Promise<Answer> {
  const part = room.part(init.mostBytes);
  let reading: Promise<string | Refusal> | undefined;
  try {
    const answer = await init.append(
      tokenIn(request.headers.authorization ?? ''),
      () => (reading ??= bodyOf(request, part)),
    );
    if (reading === undefined) await bodyOf(request, NOTHING);
    return answer;
  } finally {
    part.release();
  }
}

function tokenIn(header: string): string {
  return /^Bearer (\S+)$/.exec(header)?.[1] ?? '';
}

/** Where the bytes of a body go. */
interface Part {
  /** Why there is no room for so many more; nothing where there is. */
  readonly take: (bytes: number) => Refusal | undefined;
  readonly release: () => void;
}

const TOO_LARGE: Refusal = { status: 413, body: 'the batch or object is too large\n' };
const TOO_MANY: Refusal = {
  status: 503,
  body: 'too many batches arrive at a time: send it again\n',
};
const NOTHING: Part = { take: () => TOO_LARGE, release: () => undefined };

/** Bytes that bodies may have together. */
class Room {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** For one body of so many bytes at most. */
  part(most: number): Part {
    let taken = 0;
    const release = (): void => {
      this.#left += taken;
      taken = 0;
    };
    const take = (bytes: number): Refusal | undefined => {
      if (taken + bytes > most) return TOO_LARGE;
      if (bytes > this.#left) return TOO_MANY;
      taken += bytes;
      this.#left -= bytes;
      return undefined;
    };
    return { take, release };
  }
}

/**
 * Reads to the end, also what is not kept: who still sends would see a broken connection, and not the answer. The timeout of
 * a request bounds it.
 */
async function bodyOf(request: IncomingMessage, part: Part): Promise<string | Refusal> {
  const chunks: Buffer[] = [];
  let refusal: Refusal | undefined;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (refusal !== undefined) continue;
    refusal = part.take(chunk.length);
    if (refusal === undefined) chunks.push(chunk);
    else {
      chunks.length = 0;
      part.release();
    }
  }
  return refusal ?? Buffer.concat(chunks).toString('utf8');
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
