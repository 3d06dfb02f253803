// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_EVENT_BYTES, decodeLines } from '#kube/watch/line-decoder.ts';

/** Cut at these places, modulo the length. */
async function split(bytes: Uint8Array, cuts: readonly number[]): Promise<string[]> {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index]));
  return Array.fromAsync(decodeLines(chunksOf(chunks)));
}

// eslint-disable-next-line @typescript-eslint/require-await -- the shape of a body
async function* chunksOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

test('lines do not depend on where chunks are split, even inside a character', async () => {
  const text = fc.array(fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll('\n', '¶')));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(5_000)), async (wanted, cuts) => {
      const bytes = Buffer.from(wanted.map((each) => `${each}\n`).join(''));
      assert.deepEqual(await split(bytes, cuts), wanted);
    }),
  );
});

test('bytes after the last newline are reported as truncated, not emitted as a line', async () => {
  const seen: string[] = [];
  const reading = async (): Promise<void> => {
    const bytes = Buffer.from('{"a":1}\n{"b":');
    for await (const line of decodeLines(chunksOf([bytes.subarray(0, 9), bytes.subarray(9)])))
      seen.push(line);
  };
  await assert.rejects(reading(), { name: 'WatchError', fault: 'truncated' });
  assert.deepEqual(seen, ['{"a":1}']);
  assert.deepEqual(await split(Buffer.alloc(0), []), []);
});

test('a line above the size limit is refused before it is buffered', async () => {
  let sent = 0;
  function* endless(): Generator<Uint8Array> {
    for (const chunk = Buffer.alloc(1024 * 1024, 'x'); ; sent += chunk.length) yield chunk;
  }
  await assert.rejects(Array.fromAsync(decodeLines(chunksOf(endless()))), {
    name: 'WatchError',
    fault: 'malformed',
    message: /a line of the watch is longer than the limit of 8388608 bytes/,
  });
  assert.ok(sent <= MAX_EVENT_BYTES + 1024 * 1024);
});

test('the size limit applies to each line, not to several split lines together', async () => {
  const half = Buffer.alloc(512 * 1024, 'x');
  const whole = Buffer.concat([half, Buffer.from('\n'), half]);
  const chunks = [...Array<Uint8Array>(40).fill(whole), Buffer.from('\n')];
  const found = await Array.fromAsync(decodeLines(chunksOf(chunks)));
  assert.equal(found.length, 41);
});

test('a long line in many chunks is emitted whole', async () => {
  const line = 'x'.repeat(4 * 1024 * 1024);
  const bytes = Buffer.from(`${line}\n`);
  const chunks = Array.from({ length: 4_097 }, (_each, index) =>
    bytes.subarray(index * 1_024, (index + 1) * 1_024),
  );
  assert.deepEqual(await Array.fromAsync(decodeLines(chunksOf(chunks))), [line]);
});
