// SPDX-License-Identifier: Apache-2.0

/** One watch event of the largest object that etcd takes (1.5 MiB), base64 and escapes included. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits a byte stream at newlines. The rest after the last newline is dropped: a watch line that
 * was cut off is no event, and the reconnect asks for it again.
 *
 * @throws RangeError when a line is longer than any object can be
 */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
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
    if (size > MAX_LINE_BYTES) {
      throw new RangeError(`a watch line is longer than ${MAX_LINE_BYTES} bytes, as no object is`);
    }
  }
}
