// SPDX-License-Identifier: Apache-2.0

/** One watch event of the largest object that etcd takes (1.5 MiB), base64 and escapes included. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Splits a byte stream at newlines. The rest after the last newline is dropped: a watch line that
 * was cut off is no event, and the reconnect asks for it again.
 *
 * @throws RangeError when a line is longer than any object can be
 */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      held = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    held += chunk.length - start;
    if (held > MAX_LINE_BYTES) throw new RangeError('a watch line is longer than any object');
  }
}
