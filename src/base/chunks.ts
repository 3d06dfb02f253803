// SPDX-License-Identifier: Apache-2.0

/**
 * Returns the chunks of a stream of bytes. Node types them as `any`, since a stream may also have
 * an encoding, or objects.
 *
 * @throws TypeError for a chunk of another type
 */
export async function* chunksOf(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk))
      throw new TypeError('a stream of bytes has a chunk of another type');
    yield chunk;
  }
}
