// SPDX-License-Identifier: Apache-2.0
import { createServer, type IncomingMessage } from 'node:http';
import {
  listening,
  sendShort,
  timeoutsOf,
  type RunningServer,
  type ShortAnswer,
} from './server.ts';

/** What the port for validations answers from. */
export interface ChallengeServerInit {
  /** `host:port`; port 0 chooses a free one. */
  readonly listen: string;
  /**
   * The content of a file.
   *
   * @param token - of its path: base64url, at most 255 characters
   * @param host - of the header Host, without a port; '' where there is none
   */
  readonly keyOf: (token: string, host: string) => string | undefined;
  /** Whether every file is known: without that, "there is none" would be a guess. */
  readonly isComplete: () => boolean;
  /** Called for each answer with its status. */
  readonly onAnswered: (status: number) => void;
  /** Default 5 s: a CA sends a request of 300 bytes. */
  readonly requestTimeoutMs?: number;
}

/** What a CA asks for (RFC 8555 §8.3). The CRD has the same grammar of a token. */
const PATH = /^\/\.well-known\/acme-challenge\/(?<token>[A-Za-z0-9_-]{1,255})$/;
const MAX_QUESTION_BYTES = 8 * 1024;
const QUESTION_TIMEOUT_MS = 5_000;
/** Behind an Ingress controller all requests come from few addresses, each with many connections. */
const MOST_ASKING = 1_024;

/**
 * Serves the files of HTTP-01 to whoever asks: the Internet. GET and HEAD of a token's path, and nothing else. What a
 * client can hold is bounded: connections, headers, time; a body is never read.
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
  // No "100 Continue": the body is not wanted.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  return listening(server, {
    ...{ listen, requestTimeoutMs, mostConnections: MOST_ASKING },
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

/** `a.example.com` of `A.example.com:80`, `2001:db8::1` of `[2001:db8::1]`. */
function hostOf(header: string): string {
  const { host = '' } = /^\[?(?<host>.*?)\]?(?::\d+)?$/.exec(header)?.groups ?? {};
  return host.toLowerCase();
}
