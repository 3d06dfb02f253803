// SPDX-License-Identifier: Apache-2.0
import { createServer, type IncomingMessage } from 'node:http';
import {
  listening,
  sendShort,
  timeoutsOf,
  type RunningServer,
  type ShortAnswer,
} from './server.ts';

/** The sources of the port for validations. */
export interface ChallengeServerInit {
  /** `host:port`. Port 0 selects a free one. */
  readonly listen: string;
  /**
   * Returns the content of a file.
   *
   * @param token - the token of its path: base64url, at most 255 characters
   * @param host - the host of the header Host, without a port, or '' if it is absent
   */
  readonly keyOf: (token: string, host: string) => string | undefined;
  /** Reports whether every file is known. Until then, a 404 would be a guess. */
  readonly isComplete: () => boolean;
  /** Called for each answer with its status. */
  readonly onAnswered: (status: number) => void;
  /** Default 5 s: a CA sends a request of 300 bytes. */
  readonly requestTimeoutMs?: number;
}

/** The path that a CA requests (RFC 8555 §8.3). The CRD has the same grammar of a token. */
const PATH = /^\/\.well-known\/acme-challenge\/(?<token>[A-Za-z0-9_-]{1,255})$/;
const MAX_QUESTION_BYTES = 8 * 1024;
const QUESTION_TIMEOUT_MS = 5_000;
/**
 * The limit of connections. Behind an Ingress controller all requests come from few addresses, each
 * with many connections.
 */
const MAX_ASKING = 1_024;

/**
 * Serves the files of HTTP-01 to the Internet: GET and HEAD of a token's path, and nothing else.
 * Limits connections, headers and time of a client, and never reads a body.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function serveChallenges(init: ChallengeServerInit): Promise<RunningServer> {
  const { listen, requestTimeoutMs = QUESTION_TIMEOUT_MS } = init;
  const options = { ...timeoutsOf(requestTimeoutMs), maxHeaderSize: MAX_QUESTION_BYTES };
  const server = createServer(options, (request, response) => {
    const answer = answerTo(request, init);
    sendShort(request, response, answer);
    init.onAnswered(answer.status);
  });
  // Omits "100 Continue", because the server ignores the body.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  return listening(server, {
    listen,
    requestTimeoutMs,
    maxConnections: MAX_ASKING,
    flag: '--listen-challenges',
  });
}

const NOT_FOUND: ShortAnswer = { status: 404, body: 'not found\n' };

function answerTo(request: IncomingMessage, init: ChallengeServerInit): ShortAnswer {
  const { method = '', headers } = request;
  const token = tokenOf(request);
  if (token === undefined) return NOT_FOUND;
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, body: 'method not allowed\n', headers: { allow: 'GET, HEAD' } };
  }
  const key = init.keyOf(token, hostOf(headers.host ?? ''));
  if (key !== undefined) {
    return { status: 200, body: key, headers: { 'content-type': 'application/octet-stream' } };
  }
  if (init.isComplete()) return NOT_FOUND;
  return { status: 503, body: 'starting\n', headers: { 'retry-after': '1' } };
}

function tokenOf({ url = '' }: IncomingMessage): string | undefined {
  const [path = ''] = url.split('?', 1);
  return PATH.exec(path)?.groups?.['token'];
}

/** Returns `a.example.com` of `A.example.com:80`, and `2001:db8::1` of `[2001:db8::1]`. */
function hostOf(header: string): string {
  const { host = '' } = /^\[?(?<host>.*?)\]?(?::\d+)?$/.exec(header)?.groups ?? {};
  return host.toLowerCase();
}
