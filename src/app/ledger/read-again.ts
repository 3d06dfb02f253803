// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { Monotonic } from '../../ports.ts';

/** The kubelet replaces a token when a fifth of its time is left, and both CAs are in a file while one follows the other. */
const READ_AGAIN_MILLISECONDS = 5_000;

/**
 * The text of a file that somebody replaces: it is read again when it is asked for five seconds after it was read, and when
 * it could not be read.
 */
export function readAgain(file: string, monotonic: Monotonic): () => Promise<string> {
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
