// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeFrames } from '#kube/watch/frame-decoder.ts';
import { MAX_EVENT_BYTES } from '#kube/watch/line-decoder.ts';

// eslint-disable-next-line @typescript-eslint/require-await -- the shape of a body
async function* chunksOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function frames(chunks: Iterable<Uint8Array>): Promise<readonly Buffer[]> {
  const got: Buffer[] = [];
  await decodeFrames(chunksOf(chunks), (frame) => got.push(frame));
  return got;
}

function framed(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

test('frames do not depend on where chunks are split', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40 })),
      fc.array(fc.nat(500)),
      async (wanted, cuts) => {
        const bytes = Buffer.concat(wanted.map(framed));
        const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
        const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index]));
        const got = await frames(chunks);
        assert.deepEqual(
          got.map((each) => Uint8Array.from(each)),
          wanted,
        );
      },
    ),
  );
});

test('a truncated frame is not emitted, and is reported at the end', async () => {
  const whole = framed(Buffer.from('abc'));
  for (const rest of [2, 4, 6]) {
    const seen: string[] = [];
    const reading = decodeFrames(chunksOf([whole, whole.subarray(0, rest)]), (frame) => {
      seen.push(frame.toString());
    });
    await assert.rejects(reading, { name: 'WatchError', fault: 'truncated' });
    assert.deepEqual(seen, ['abc']);
  }
});

test('a frame above the size limit is refused before it is read', async () => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(MAX_EVENT_BYTES + 1);
  await assert.rejects(frames([length]), {
    name: 'WatchError',
    fault: 'malformed',
  });
});
