// SPDX-License-Identifier: Apache-2.0
/** The Unix sockets of a key holder, and who may connect to them. */
import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { messageOf, usageError } from '#base/errors.ts';

/** Permissions to write of the group and of others. */
const WRITE_BY_OTHERS = 0o022;
/** The umask of a file for one user. */
const NO_OTHERS = 0o177;
/** Mode of a directory that the holder creates: its group may reach the socket. */
const DIRECTORY_MODE = 0o750;

/**
 * Opens a socket. Its directory is created if it is not there. Otherwise it must belong to this
 * user, and no other user may write to it: they could put a socket of their own in its place.
 *
 * @throws SignerError USAGE (`fail`)
 */
export async function listenOn(server: Server, path: string, mode: number): Promise<void> {
  try {
    await prepareDirectory(dirname(path));
    await removeStale(path);
    await listenPrivately(server, path);
    await chmod(path, mode);
  } catch (error) {
    throw usageError(`socket ${path}: ${messageOf(error)}`, error);
  }
}

/** Opens a socket for this user alone, so that no other connects before its mode is set. */
function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Node creates a Unix socket within this call.
    const before = process.umask(NO_OTHERS);
    server.listen(path, resolve);
    process.umask(before);
  });
}

async function prepareDirectory(directory: string): Promise<void> {
  await mkdir(directory, { mode: DIRECTORY_MODE }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  const found = await lstat(directory);
  if (!found.isDirectory()) throw usageError(`${directory} is not a directory`);
  if (found.uid !== process.getuid?.()) {
    throw usageError(`${directory} belongs to another user; name a directory that does not exist`);
  }
  if ((found.mode & WRITE_BY_OTHERS) !== 0) {
    throw usageError(`other users may write to ${directory}; chmod go-w ${directory}`);
  }
}

/** Removes the socket of an earlier process. It removes nothing else. */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket())
    throw usageError('this file is not a socket; remove it, or choose another path');
  await rm(path);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
