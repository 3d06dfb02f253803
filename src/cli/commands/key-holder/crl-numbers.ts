// SPDX-License-Identifier: Apache-2.0
/** The numbers of the last CRLs of a key holder. With a directory, they survive its restart. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf, usageError } from '#base/errors.ts';

/** The numbers of the last CRLs, by key. */
export interface CrlNumbers {
  readonly last: (key: string) => bigint | undefined;
  /**
   * Stores a number before its CRL is signed, so that no number is signed twice.
   *
   * @throws Error of Node if it cannot be stored
   */
  readonly use: (key: string, number: bigint) => void;
}

/** A number within the limit of RFC 5280 §5.2.3, 20 octets. */
const NUMBER = /^[0-9]{1,49}$/;

/**
 * Opens the numbers of these keys.
 *
 * @param directory - undefined: they are lost when the process ends
 * @throws SignerError USAGE (`fail`) if a file is not a number, or the directory cannot be written
 */
export function openCrlNumbers(directory: string | undefined, keys: readonly string[]): CrlNumbers {
  const last = new Map<string, bigint>();
  if (directory === undefined) {
    return {
      last: (key) => last.get(key),
      use: (key, number) => {
        last.set(key, number);
      },
    };
  }
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const key of keys) {
      const found = readNumber(fileOf(directory, key));
      if (found !== undefined) last.set(key, found);
    }
  } catch (error) {
    throw usageError(`crlNumbers: ${messageOf(error)}`, error);
  }
  return {
    last: (key) => last.get(key),
    use: (key, number) => {
      store(directory, fileOf(directory, key), number);
      last.set(key, number);
    },
  };
}

function fileOf(directory: string, key: string): string {
  return join(directory, `${key}.crl-number`);
}

/** @throws SignerError USAGE (`fail`). A number that is lost must not become 0 unnoticed. */
function readNumber(file: string): bigint | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (!NUMBER.test(text)) {
    throw usageError(
      `${file} is not the number of a CRL; write the last number that was published`,
    );
  }
  return BigInt(text);
}

/** Replaces the file as a whole, on the disk before this returns. CRLs are rare, so it may wait. */
function store(directory: string, file: string, number: bigint): void {
  const next = `${file}.next`;
  const opened = openSync(next, 'w', 0o600);
  try {
    writeSync(opened, `${number}\n`);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(next, file);
  const folder = openSync(directory, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
