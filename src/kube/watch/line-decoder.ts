// SPDX-License-Identifier: Apache-2.0
import { WatchError } from './watch-error.ts';

/**
 * The limit of one watch event: the largest object that etcd accepts (1.5 MiB), with base64 and
 * escapes.
 */
export const MAX_EVENT_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits a byte stream at newlines. Drops what follows the last newline: a truncated watch event,
 * which the next watch sends again.
 *
 * @throws WatchError `malformed` when a line is longer than any object, `truncated` when the stream
 *   ends inside one
 */
export async function* decodeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      start = end + 1;
      const whole = size === 0 ? rest : Buffer.concat([...held, rest]);
      held = [];
      size = 0;
      yield whole.toString('utf8');
    }
    if (start === chunk.length) continue;
    held.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_EVENT_BYTES) {
      throw new WatchError(
        'malformed',
        `a line of the watch is longer than the limit of ${MAX_EVENT_BYTES} bytes`,
      );
    }
  }
  if (size > 0) throw new WatchError('truncated', 'the watch closed in the middle of a line');
}
