// SPDX-License-Identifier: Apache-2.0
import { Client, type Dispatcher } from 'undici';
import { messageOf } from '#base/errors.ts';
import { urlHost } from '#base/egress/networks.ts';
import * as messages from '../messages.ts';
import { chunksOf } from '#base/chunks.ts';

/** One GET of one address. */
export interface AddressCall {
  /** The host is sent in the request. The connection goes to `address` without a lookup. */
  readonly url: URL;
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  readonly port: number;
  readonly signal: AbortSignal;
}

/**
 * Answer of an address. The body of a failure is not read, so that no message repeats an address's
 * content.
 */
export type AddressAnswer =
  | { readonly kind: 'body'; readonly body: Buffer }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'problem'; readonly problem: string }
  /** No connection was made. */
  | { readonly kind: 'unreachable'; readonly problem: string };

const CONNECT_MS = 5_000;
const SILENCE_MS = 10_000;
const MAX_HEAD_BYTES = 16 * 1024;
/** Limit on a key authorization, which has fewer than 400 bytes (RFC 8555 §8.1). */
const MAX_BODY_BYTES = 2 * 1024;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Requests one URL from one address, without credentials, cookies, or redirects. The answer is
 * bounded.
 */
export async function askAddress(call: AddressCall): Promise<AddressAnswer> {
  const { url, address, port, signal } = call;
  const client = new Client(`${url.protocol}//${urlHost(address)}:${port}`, {
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    allowH2: false,
    // A CA does not verify certificates during redirects either: the file proves the name.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: false },
  });
  try {
    const answer = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      // Omit the port, which is the scheme's default for the server.
      headers: { host: url.hostname, 'user-agent': 'countersign-self-check', accept: '*/*' },
      signal,
    });
    return await answerOf(answer);
  } catch (error) {
    if (signal.aborted) return problem(messages.INCOMPLETE_ANSWER);
    const fault = messages.addressUnreachable(faultOf(error));
    return isConnectFault(error) ? { kind: 'unreachable', problem: fault } : problem(fault);
  } finally {
    await client.destroy();
  }
}

async function answerOf({
  statusCode,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<AddressAnswer> {
  // An aborted body emits an error event, which needs a listener.
  body.on('error', () => undefined);
  if (REDIRECTS.includes(statusCode)) {
    body.destroy();
    const { location } = headers;
    if (typeof location === 'string') return { kind: 'redirect', location };
    return problem(messages.withoutLocation(statusCode));
  }
  if (statusCode !== 200) {
    body.destroy();
    return problem(messages.answered(statusCode));
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(body)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      body.destroy();
      return problem(messages.longAnswer(MAX_BODY_BYTES));
    }
  }
  return { kind: 'body', body: Buffer.concat(chunks, size) };
}

function problem(text: string): AddressAnswer {
  return { kind: 'problem', problem: text };
}

function isConnectFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The code of undici's ConnectTimeoutError, which has no system call.
  if ('code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return 'syscall' in error && error.syscall === 'connect';
}

/**
 * Returns the code if there is one. Codes are equal at each attempt, while messages may have ports
 * and times.
 */
function faultOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : messageOf(error);
}
