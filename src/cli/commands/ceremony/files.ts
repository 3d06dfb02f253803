// SPDX-License-Identifier: Apache-2.0
/** The files of a ceremony: read within a limit, and written once. */
import { lstat, open, readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { messageOf, usageError } from '#base/errors.ts';
import { readCeremony, type CeremonyFile } from '#ca/ceremony/ceremony-file.ts';
import type { NamedFile } from '#ca/ceremony/transcript.ts';
import { parseYaml } from '#cli/yaml-document.ts';

/** The limit of a file: the size of the largest CRL. */
export const MAX_BYTES = 1024 * 1024;

/** Mode of a key: its owner reads it. */
export const KEY_MODE = 0o600;
/** Mode of everything else, which is public. */
export const PUBLIC_MODE = 0o644;

/** A ceremony's file and the directory to which its paths are relative. */
export interface OpenCeremony {
  readonly file: CeremonyFile;
  readonly directory: string;
  readonly source: NamedFile<'ceremony'>;
}

/**
 * Reads the file of a ceremony.
 *
 * @throws SignerError USAGE (`fail`) with the path of each fault
 */
export async function openCeremony(path: string): Promise<OpenCeremony> {
  const contents = await readInput(dirname(path), basename(path), 'the file');
  const value = parseYaml(Buffer.from(contents).toString('utf8'), path);
  return {
    file: readCeremony(value, path),
    directory: dirname(resolve(path)),
    source: { role: 'ceremony', path: basename(path), contents },
  };
}

/**
 * Reads an input.
 *
 * @param field - the field of the ceremony's file that names it, for messages
 * @throws SignerError USAGE (`fail`)
 */
export async function readInput(
  directory: string,
  path: string,
  field: string,
): Promise<Uint8Array> {
  const contents = await readFile(resolve(directory, path)).catch((error: unknown) => {
    throw usageError(`${field}: ${messageOf(error)}`);
  });
  if (contents.length <= MAX_BYTES) return contents;
  throw usageError(`${field}: ${path} has more than ${MAX_BYTES} bytes`);
}

/**
 * Throws if an output exists or has no directory, before anything is signed. Writing checks it
 * again.
 *
 * @throws SignerError USAGE (`fail`)
 */
export async function requireAbsent(directory: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const parent = await stat(dirname(resolve(directory, path))).catch(() => undefined);
    if (parent?.isDirectory() !== true) throw usageError(`${path}: its directory is not there`);
    const found = await lstat(resolve(directory, path)).catch(() => undefined);
    if (found !== undefined) {
      throw usageError(`${path} exists, and is never overwritten; move it away, or name another`);
    }
  }
}

/**
 * Creates a file, and returns once it is on the disk.
 *
 * @throws Error of Node, EEXIST if it is there
 */
export async function writeNew(path: string, contents: Uint8Array, mode: number): Promise<void> {
  // `wx` is O_CREAT and O_EXCL: it follows no link, and replaces nothing.
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(contents);
    await file.sync();
  } finally {
    await file.close();
  }
}
