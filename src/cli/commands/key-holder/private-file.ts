// SPDX-License-Identifier: Apache-2.0
/** Files of a key holder, which no other user may read or replace. */
import { open, type FileHandle } from 'node:fs/promises';
import { usageError } from '#base/errors.ts';

/** Permissions of others, and of the group to write. */
const OTHERS = 0o007;
const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;
const ROOT = 0;

/**
 * Reads a file with a key or a passphrase. It must belong to this user or to root, as the Secrets
 * that the kubelet mounts. Others may not read it, and the group may not write it. The group may
 * read it: `fsGroup` of a pod makes it so. Links lead to the file that is checked and read.
 *
 * @throws SignerError USAGE (`fail`), or Error of Node if the file cannot be read
 */
export async function readPrivateFile(path: string): Promise<string> {
  const faultOf = (mode: number): string | undefined => {
    if ((mode & OTHERS) !== 0) return `other users may read or write ${path}; chmod o= ${path}`;
    if ((mode & GROUP_WRITE) !== 0) return `its group may write ${path}; chmod g-w ${path}`;
    return undefined;
  };
  return checkFile(path, faultOf, (file) => file.readFile('utf8'));
}

/**
 * Reads the file of limits, which other users may read and not write.
 *
 * @throws SignerError USAGE (`fail`), or Error of Node if the file cannot be read
 */
export async function readLimitsFile(path: string): Promise<string> {
  return checkFile(path, othersMayWrite(path), (file) => file.readFile('utf8'));
}

function othersMayWrite(path: string): (mode: number) => string | undefined {
  return (mode) =>
    (mode & (GROUP_WRITE | OTHERS_WRITE)) === 0
      ? undefined
      : `other users may write ${path}; chmod go-w ${path}`;
}

/**
 * Checks a library before it is loaded: other users may read it, but not write it.
 *
 * @throws SignerError USAGE (`fail`), or Error of Node if the file cannot be read
 */
export async function checkCodeFile(path: string): Promise<void> {
  await checkFile(path, othersMayWrite(path), () => Promise.resolve(undefined));
}

/** Checks and reads one opened file, so that no other can take its place in between. */
async function checkFile<T>(
  path: string,
  faultOf: (mode: number) => string | undefined,
  read: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r');
  try {
    const { uid, mode } = await file.stat();
    const own = process.getuid?.();
    if (uid !== ROOT && uid !== own) {
      throw usageError(
        `${path} belongs to the user ${uid}, who may replace it; chown it to root or to the user ${own ?? ROOT}`,
      );
    }
    const fault = faultOf(mode);
    if (fault !== undefined) throw usageError(fault);
    return await read(file);
  } finally {
    await file.close();
  }
}
