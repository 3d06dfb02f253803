// SPDX-License-Identifier: Apache-2.0
/** Serves one socket of a key holder: HTTP/2 without TLS. Its permissions guard it. */
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SignerError, messageOf } from '#base/errors.ts';
import type { Log } from '#base/ports.ts';
import {
  MAX_CRL_BYTES,
  MAX_LEAF_BYTES,
  TOKEN_UNAVAILABLE,
  readPath,
  type HolderPurpose,
} from '#ca/key-holder/protocol.ts';
import type { SocketSigner } from './signer.ts';

/** Requests that one socket answers at once. A loop of a component signs at most 36. */
const MAX_SIGNING_AT_ONCE = 64;
/** Connections of one socket. A component has one. */
const MAX_HOLDER_CONNECTIONS = 8;
/** The time in which a request must arrive. */
const BODY_MS = 5_000;

/** A server of one socket. */
export interface HolderServer {
  readonly server: Http2Server;
  /** Finishes the requests in flight, and ends the connections. */
  readonly close: () => Promise<void>;
}

/** Creates the server of one socket. */
export function createHolderServer(signer: SocketSigner, log: Log): HolderServer {
  const server = createServer({
    settings: { maxConcurrentStreams: MAX_SIGNING_AT_ONCE, enablePush: false },
    maxSessionMemory: 4,
  });
  server.maxConnections = MAX_HOLDER_CONNECTIONS;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('sessionError', (error: Error) => {
    log.warn({ error: error.message }, 'connection failed');
  });
  const load = { active: 0 };
  const inTurn = createTurns();
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined);
    const [method, path] = [headers[':method'] ?? '', headers[':path'] ?? ''];
    void handle({ signer, load, inTurn }, stream, { method, path }).catch((error: unknown) => {
      log.error({ error: messageOf(error) }, 'request failed');
      answer(stream, 500, { reason: 'failed', message: 'the holder failed; see its log' });
    });
  });
  return {
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const each of sockets) each.destroySoon();
      }),
  };
}

interface Handler {
  readonly signer: SocketSigner;
  readonly load: { active: number };
  readonly inTurn: RunInTurn;
}

type RunInTurn = <T>(task: () => T) => Promise<T>;

/**
 * Runs one task in each turn of the event loop. The sockets of a holder share its only thread, so a
 * component that floods its socket would otherwise starve those of the others. Signatures by
 * tokens run concurrently, since a turn ends when its signature has begun.
 */
function createTurns(): RunInTurn {
  let last: Promise<unknown> = Promise.resolve();
  const next = (): Promise<unknown> => nextTurn();
  return (task) => {
    const done = last.then(task);
    last = done.then(next, next);
    return done;
  };
}

async function handle(
  handler: Handler,
  stream: ServerHttp2Stream,
  { method, path }: { readonly method: string; readonly path: string },
): Promise<void> {
  const wanted = readPath(path);
  if (wanted === undefined) {
    answer(stream, 404, { reason: 'path', message: 'unknown path' });
  } else if (method === 'GET' && wanted.purpose === undefined) {
    describe(handler, stream, wanted.key);
  } else if (method === 'POST' && wanted.purpose !== undefined) {
    await signInTurn(handler, stream, { key: wanted.key, purpose: wanted.purpose });
  } else {
    answer(stream, 405, { reason: 'method', message: 'the path does not allow this method' });
  }
}

function describe({ signer }: Handler, stream: ServerHttp2Stream, key: string): void {
  const described = signer.describe(key);
  if (described === undefined) {
    answer(stream, 404, { reason: 'key', message: `this socket has no key ${key}` });
  } else if (described.fault !== undefined) {
    answer(stream, 503, { reason: TOKEN_UNAVAILABLE, message: described.fault });
  } else {
    answer(stream, 200, described.description);
  }
}

/** A key, and what is signed with it. */
interface Order {
  readonly key: string;
  readonly purpose: HolderPurpose;
}

async function signInTurn(
  { signer, load, inTurn }: Handler,
  stream: ServerHttp2Stream,
  order: Order,
): Promise<void> {
  if (load.active >= MAX_SIGNING_AT_ONCE) {
    const message = `the holder already answers ${MAX_SIGNING_AT_ONCE} requests; retry`;
    answer(stream, 429, { reason: 'too-many', message });
    return;
  }
  load.active += 1;
  try {
    await signBody({ signer, inTurn }, stream, order);
  } finally {
    load.active -= 1;
  }
}

async function signBody(
  { signer, inTurn }: Pick<Handler, 'signer' | 'inTurn'>,
  stream: ServerHttp2Stream,
  { key, purpose }: Order,
): Promise<void> {
  const tbs = await bodyOf(stream, purpose === 'leaf' ? MAX_LEAF_BYTES : MAX_CRL_BYTES);
  if (tbs === undefined) return;
  const signed = await inTurn(() => signer.sign(key, purpose, tbs));
  if (signed.refusal !== undefined) {
    answer(stream, 403, signed.refusal);
    return;
  }
  try {
    const signature = await signed.signature;
    if (!stream.destroyed) respond(stream, 200, 'application/octet-stream', signature);
  } catch (error) {
    if (!isTokenAway(error)) throw error;
    answer(stream, 503, { reason: TOKEN_UNAVAILABLE, message: error.message });
  }
}

function isTokenAway(error: unknown): error is SignerError {
  return error instanceof SignerError && error.code === 'KEY_HOLDER_TOKEN_UNAVAILABLE';
}

/** Returns the body, or undefined if the request was answered or ended before it was complete. */
function bodyOf(stream: ServerHttp2Stream, maxBytes: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const give = (status: number, reason: string, message: string): void => {
      answer(stream, status, { reason, message });
      resolve(undefined);
    };
    const timer = setTimeout(() => {
      give(408, 'too-slow', `the request took longer than ${BODY_MS / 1000} s`);
    }, BODY_MS);
    stream.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= maxBytes) parts.push(part);
      else if (size - part.length <= maxBytes) {
        give(413, 'too-large', `the request has more than ${maxBytes} bytes`);
      }
    });
    stream.on('end', () => {
      resolve(size <= maxBytes ? Buffer.concat(parts) : undefined);
    });
    stream.on('close', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

function answer(stream: ServerHttp2Stream, status: number, body: object): void {
  if (stream.destroyed || stream.headersSent) return;
  respond(stream, status, 'application/json', Buffer.from(JSON.stringify(body)));
}

/** Sends a whole answer. By its length the client sees whether the answer was cut off. */
function respond(
  stream: ServerHttp2Stream,
  status: number,
  contentType: string,
  body: Uint8Array,
): void {
  stream.respond({
    ':status': status,
    'content-type': contentType,
    'content-length': body.length,
  });
  stream.end(body);
}
