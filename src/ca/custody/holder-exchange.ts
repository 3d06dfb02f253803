// SPDX-License-Identifier: Apache-2.0
/** One request to a key holder over a session of HTTP/2. */
import type { ClientHttp2Session } from 'node:http2';
import { MAX_SIGNATURE_ANSWER_BYTES } from '../key-holder/protocol.ts';

/** A request to a key holder. */
export interface HolderRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Uint8Array;
}

/** An answer of a key holder. */
export interface HolderAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Sends a request, and returns the whole answer. Node ends a stream that was cut off like a
 * complete one, so the length that the holder declares decides.
 *
 * @param signal - ends the request, also while its answer is read
 * @throws Error if the session ends first, or if the answer is cut off or too large
 */
export function exchange(
  session: ClientHttp2Session,
  { method, path, body }: HolderRequest,
  signal: AbortSignal,
): Promise<HolderAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path }, { signal });
    let status = 0;
    let declared = '';
    let size = 0;
    const parts: Buffer[] = [];
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0;
      declared = headers['content-length'] ?? '';
    });
    stream.on('data', (part: Buffer) => {
      size += part.length;
      if (size > MAX_SIGNATURE_ANSWER_BYTES) stream.destroy(new Error('the answer is too large'));
      else parts.push(part);
    });
    stream.on('error', reject);
    stream.on('end', () => {
      if (status === 0) reject(new Error('the holder closed the connection'));
      else if (declared !== String(size)) reject(new Error('the answer was cut off'));
      else resolve({ status, body: Buffer.concat(parts) });
    });
    stream.on('close', () => {
      reject(new Error('the holder closed the connection'));
    });
    stream.end(body);
  });
}
