// SPDX-License-Identifier: Apache-2.0
/**
 * Serves the port of the ledger. Components append to it, every client gets the files of its logs,
 * and people read records, directly or through the API server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { serveTls, type HttpsServer, type TlsInit } from './https-server.ts';
import { chunksOf } from '#base/chunks.ts';

/** The sources of the port. */
export interface LedgerServerInit extends TlsInit {
  /** The path for a batch. */
  readonly appendPath: string;
  /** The limit of a batch in bytes. */
  readonly maxBytes: number;
  /**
   * Appends a batch. `read` returns the batch, or the answer to a rejected one. Nothing is kept
   * before that.
   */
  readonly append: (
    token: string,
    read: () => Promise<string | Refusal>,
    /** IP address of the client. */
    address?: string,
  ) => Promise<{ readonly status: number; readonly body: string }>;
  /** Returns a file of a log, or undefined if there is none. */
  readonly file: (path: string) => Promise<Uint8Array | undefined>;
  /** Answers the API of records, below `/apis`. */
  readonly api: (request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
    readonly certificate?: { readonly commonName: string; readonly raw: Uint8Array };
    /** IP address of the client. */
    readonly address?: string;
    readonly body?: string;
    /** Resolves when the client has read the answer, or has left. */
    readonly closed: Promise<void>;
  }) => Promise<ApiAnswer>;
}

/** The rejection of a body. */
interface Refusal {
  readonly status: 413 | 503;
  readonly body: string;
}

/** JSON, or the bytes of a file. */
interface ApiAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly retryAfterSeconds?: number;
}

/** The time for a batch of 16 MiB through a slow network. */
const BATCH_TIMEOUT_MS = 30_000;
/** The limit of an object: 500 names of records have 10 KiB. */
const MAX_OBJECT_BYTES = 64 * 1024;
/**
 * Limit on the batches in memory, as if each had the greatest size, 16 MiB. A usual batch is
 * smaller (1 MiB), and each component sends its batches one by one.
 */
const MAX_BATCHES = 4;
/** The limit of connections, for replicas of components and readers of tiles. */
const MAX_SERVER_CONNECTIONS = 1_024;

/**
 * Serves the port over TLS, with a certificate that is read repeatedly.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export function serveLedger(init: LedgerServerInit): Promise<HttpsServer> {
  const limits = { requestTimeoutMs: BATCH_TIMEOUT_MS, maxConnections: MAX_SERVER_CONNECTIONS };
  const room = new Room(MAX_BATCHES * init.maxBytes);
  return serveTls({ ...init, ...limits }, (request, response) => {
    const closed = new Promise<void>((resolve) => {
      response.once('close', resolve);
    });
    answerTo(init, room, request, closed).then(
      (answer) => {
        send(request, response, answer);
      },
      // Express would send a stack trace, and without an answer the client would wait.
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
  closed: Promise<void>,
): Promise<Answer> {
  const { method, url = '' } = request;
  const [path = ''] = url.split('?', 1);
  if (method === 'POST' && path === init.appendPath) return append(init, room, request);
  if (path === '/apis' || path.startsWith('/apis/')) return apiAnswer(init, request, closed);
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'method not allowed\n' };
  const file = await init.file(path);
  return file === undefined ? { status: 404, body: 'not found\n' } : { status: 200, body: file };
}

async function apiAnswer(
  init: LedgerServerInit,
  request: IncomingMessage,
  closed: Promise<void>,
): Promise<Answer> {
  const { method = '', url = '', headersDistinct: headers } = request;
  const certificate = certificateOf(request);
  const { remoteAddress: address } = request.socket;
  const known = {
    ...(certificate === undefined ? {} : { certificate }),
    ...(address === undefined ? {} : { address }),
  };
  const body =
    method === 'POST'
      ? await bodyOf(request, new Room(MAX_OBJECT_BYTES).part(MAX_OBJECT_BYTES))
      : '';
  if (typeof body !== 'string') return body;
  const answer = await init.api({ url, method, headers, ...known, body, closed });
  return typeof answer.body === 'string' ? { ...answer, contentType: 'application/json' } : answer;
}

/** Returns the certificate of a client that TLS has verified. */
function certificateOf({
  socket,
}: IncomingMessage): { readonly commonName: string; readonly raw: Uint8Array } | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject, raw } = socket.getPeerCertificate();
  // Several common names are a list, whatever the types declare. None of them counts.
  const commonName: unknown = subject.CN;
  return { commonName: typeof commonName === 'string' ? commonName : '', raw };
}

/** Every client that reaches the port can send. Only the bodies of authorized clients are kept. */
async function append(
  init: LedgerServerInit,
  room: Room,
  request: IncomingMessage,
): Promise<Answer> {
  const part = room.part(init.maxBytes);
  let reading: Promise<string | Refusal> | undefined;
  try {
    const answer = await init.append(
      tokenIn(request.headers.authorization ?? ''),
      () => (reading ??= bodyOf(request, part)),
      request.socket.remoteAddress,
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

/** The space for the bytes of a body. */
interface Part {
  /** Returns why there is no space for so many more bytes, or undefined if there is. */
  readonly take: (bytes: number) => Refusal | undefined;
  readonly release: () => void;
}

const TOO_LARGE: Refusal = { status: 413, body: 'the batch or object is too large\n' };
const TOO_MANY: Refusal = {
  status: 503,
  body: 'too many batches arrive at a time: send it again\n',
};
const NOTHING: Part = { take: () => TOO_LARGE, release: () => undefined };

/** The bytes that all bodies may have together. */
class Room {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Returns space for one body of at most so many bytes. */
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
 * Reads to the end, even if nothing is kept. A client that still sends would otherwise see a broken
 * connection, and not the answer. The timeout of a request bounds it.
 */
async function bodyOf(request: IncomingMessage, part: Part): Promise<string | Refusal> {
  const chunks: Buffer[] = [];
  let refusal: Refusal | undefined;
  for await (const chunk of chunksOf(request)) {
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
  const { status, body, retryAfterSeconds: seconds } = answer;
  const isText = typeof body === 'string';
  const byBody = isText ? 'text/plain; charset=utf-8' : 'application/octet-stream';
  response.writeHead(status, {
    'content-type': answer.contentType ?? byBody,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // After a rejection, the client may find another replica on its next connection.
    ...(status === 200 ? {} : { connection: 'close' }),
    ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
