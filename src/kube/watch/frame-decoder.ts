// SPDX-License-Identifier: Apache-2.0
import { MAX_EVENT_BYTES } from './line-decoder.ts';
import { WatchError } from './watch-error.ts';

/** Before each frame stands its length, big-endian (apimachinery, util/framer). */
const LENGTH_OCTETS = 4;

/**
 * Splits a byte stream at its length-delimited frames, as watches in protobuf have them, and hands
 * them over one by one, all of a chunk at once: a generator would wait some turns for each of them.
 *
 * @throws WatchTrouble as `lines`, and what `take` throws
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
    throw new WatchError('truncated', 'the watch ended in the middle of a frame');
}

/** Where the frame that begins at `start` ends; Infinity while not even its length is there. */
function endOf(bytes: Buffer, start: number): number {
  if (bytes.length < start + LENGTH_OCTETS) return Infinity;
  const length = bytes.readUInt32BE(start);
  if (length > MAX_EVENT_BYTES) {
    throw new WatchError(
      'malformed',
      `a watch frame is longer than ${MAX_EVENT_BYTES} bytes, as no object is`,
    );
  }
  return start + LENGTH_OCTETS + length;
}
