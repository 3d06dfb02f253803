// SPDX-License-Identifier: Apache-2.0
import { Client, type Dispatcher } from 'undici';
import { messageOf } from '../../errors.ts';
import { quote } from '../../quote.ts';
import { urlHost } from '../../egress/networks.ts';

/** One GET of one address. */
export interface AddressCall {
  /** Its host is what is asked for; the connection goes to `address`, and nothing is resolved any more. */
  readonly url: URL;
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** What an address answered. A body that is no success is not read: nobody learns by us what an address says. */
export type AddressAnswer =
  | { readonly kind: 'body'; readonly body: Buffer }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'problem'; readonly problem: string };

const CONNECT_MS = 5_000;
const SILENCE_MS = 10_000;
const MAX_HEAD_BYTES = 16 * 1024;
/** A key authorization is shorter than 400 bytes (RFC 8555 §8.1). */
const MAX_BODY_BYTES = 2 * 1024;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Asks one address for one URL: no credentials, no cookies, no redirect, a bounded answer. */
export async function askAddress(call: AddressCall): Promise<AddressAnswer> {
  const { url, address, port, signal } = call;
  const client = new Client(`${url.protocol}//${urlHost(address)}:${port}`, {
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    allowH2: false,
    // A CA does not look at certificates on the way either: the file is what proves the name.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: false },
  });
  try {
    const answer = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      // Without the port, which is the default one of the scheme for whoever asks.
      headers: { host: url.hostname, 'user-agent': 'countersign-self-check', accept: '*/*' },
      signal,
    });
    return await answerOf(answer);
  } catch (error) {
    if (signal.aborted) return problem('no complete answer in time');
    return problem(`cannot be asked: ${quote(faultOf(error), 120)}`);
  } finally {
    await client.destroy();
  }
}

async function answerOf({
  statusCode,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<AddressAnswer> {
  // A body that we end says so by an event that nobody else listens to.
  body.on('error', () => undefined);
  if (REDIRECTS.includes(statusCode)) {
    body.destroy();
    const { location } = headers;
    if (typeof location === 'string') return { kind: 'redirect', location };
    return problem(`answered ${statusCode} without a Location`);
  }
  if (statusCode !== 200) {
    body.destroy();
    return problem(`answered ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      body.destroy();
      return problem(`answered 200 with more than ${MAX_BODY_BYTES} bytes`);
    }
  }
  return { kind: 'body', body: Buffer.concat(chunks, size) };
}

function problem(text: string): AddressAnswer {
  return { kind: 'problem', problem: text };
}

/** Codes say the same at each attempt; messages can have ports and times in them. */
function faultOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : messageOf(error);
}
