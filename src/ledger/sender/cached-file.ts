// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { Monotonic } from '#base/ports.ts';

/**
 * How long to cache a file. The kubelet replaces a token when a fifth of its lifetime is left.
 * During a rotation a CA file has both CAs.
 */
const READ_AGAIN_MILLISECONDS = 5_000;

/**
 * Returns a function that reads a file which another process replaces. It reads again after five
 * seconds, and after a failure.
 */
export function cachedFileReader(file: string, monotonic: Monotonic): () => Promise<string> {
  let known: { readonly text: Promise<string>; readonly until: number } | undefined;
  return async () => {
    if (known === undefined || known.until <= monotonic()) {
      known = { text: readFile(file, 'utf8'), until: monotonic() + READ_AGAIN_MILLISECONDS };
    }
    try {
      return await known.text;
    } catch (error) {
      known = undefined;
      throw error;
    }
  };
}
