// SPDX-License-Identifier: Apache-2.0
import { WatchError } from './watch-error.ts';

/** One watch event of the largest object that etcd takes (1.5 MiB), base64 and escapes included. */
export const MAX_EVENT_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits a byte stream at newlines. A rest after the last newline is no line: a watch event that was
 * cut off is none, and the reconnect asks for it again.
 *
 * @throws WatchTrouble `malformed` when a line is longer than any object can be, `truncated` when the
 * stream ends inside one
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
        `a watch line is longer than ${MAX_EVENT_BYTES} bytes, as no object is`,
      );
    }
  }
  if (size > 0) throw new WatchError('truncated', 'the watch ended in the middle of a line');
}
