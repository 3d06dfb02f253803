// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage } from 'node:http';

/** Limit of the body in bytes. A token and a message take less. */
export const MAX_FORM_BYTES = 8_192;

/**
 * Reads the fields of a form. It returns none if the body is too large, or has another content
 * type.
 */
export async function readForm(
  request: IncomingMessage,
  maxBytes: number,
): Promise<URLSearchParams> {
  const { 'content-type': type = '' } = request.headers;
  if (!type.startsWith('application/x-www-form-urlencoded')) return new URLSearchParams();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Uint8Array)) break;
    size += chunk.length;
    if (size > maxBytes) return new URLSearchParams();
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
