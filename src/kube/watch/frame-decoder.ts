// SPDX-License-Identifier: Apache-2.0
import { MAX_EVENT_BYTES } from './line-decoder.ts';
import { WatchError } from './watch-error.ts';

/** Each frame follows its length, big-endian (apimachinery, util/framer). */
const LENGTH_OCTETS = 4;

/**
 * Splits the byte stream of a watch in protobuf into its length-delimited frames, and passes each
 * to `take`. All frames of a chunk are passed in one turn of the event loop. A generator would take
 * several turns for each.
 *
 * @throws WatchError as {@link decodeLines}, and what `take` throws
 */
export async function decodeFrames(
  chunks: AsyncIterable<Uint8Array>,
  take: (frame: Buffer) => void,
): Promise<void> {
  let held: Buffer = Buffer.alloc(0);
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    let start = 0;
    for (let end = endOf(all, start); end <= all.length; end = endOf(all, start)) {
      const frame = all.subarray(start + LENGTH_OCTETS, end);
      start = end;
      take(frame);
    }
    held = all.subarray(start);
  }
  if (held.length > 0)
    throw new WatchError('truncated', 'the watch closed in the middle of a frame');
}

/**
 * Returns the end of the frame that begins at `start`, or Infinity while its length is incomplete.
 */
function endOf(bytes: Buffer, start: number): number {
  if (bytes.length < start + LENGTH_OCTETS) return Infinity;
  const length = bytes.readUInt32BE(start);
  if (length > MAX_EVENT_BYTES) {
    throw new WatchError(
      'malformed',
      `a frame of the watch is longer than the limit of ${MAX_EVENT_BYTES} bytes`,
    );
  }
  return start + LENGTH_OCTETS + length;
}
