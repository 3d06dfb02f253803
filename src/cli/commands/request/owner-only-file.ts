// SPDX-License-Identifier: Apache-2.0
/** Files with mode 0600. */
import { access, constants, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { usageError } from '#base/errors.ts';
import { quote } from '#base/quote.ts';

/** Mode of files with or beside a private key. */
export const OWNER_ONLY = 0o600;

/** Limit in UTF-16 units, so that the name with `.kubeconfig` is valid in every file system. */
const MAX_FILE_STEM = 200;

/** Device names of Windows, in every directory and with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/**
 * Returns the path for the files of a name, always in `directory`. It replaces each character that
 * is not a letter, a digit or one of `._@-` by `_`. It also replaces an initial hyphen, because
 * such a file name would be an option.
 *
 * @returns a path without an extension
 * @throws SignerError USAGE (`fail`) if only dots would be left of the name
 */
export function fileBase(directory: string, name: string): string {
  const stem = name
    .replaceAll(/[^A-Za-z0-9._@-]|^-/g, '_')
    .replace(DEVICE, '_$&')
    .slice(0, MAX_FILE_STEM);
  if (!/^\.*$/.test(stem)) return join(directory, stem);
  throw usageError(
    `--name ${quote(name)} gives no name for a file; use a name with a letter or a digit`,
  );
}

/**
 * Writes a private key. It never overwrites one, which may belong to a pending request.
 *
 * @param pem - PKCS#8
 * @throws SignerError USAGE (`fail`) if the file exists
 */
export async function writeNewKey(path: string, pem: string): Promise<void> {
  await writeFile(path, pem, { mode: OWNER_ONLY, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw usageError(
      `${path} exists, from an earlier request, and is never overwritten; --renew replaces key and certificate once the new one is there, --out writes to another directory, and countersign explain csr/NAME shows a request that is still pending`,
    );
  });
}

/** A path and the content to write there. */
export type FileToWrite = readonly [path: string, content: string | Uint8Array];

/**
 * Replaces files in this order, each by a rename. It writes all contents beside them first, so a
 * full disk replaces none.
 */
export async function replaceFiles(files: readonly FileToWrite[]): Promise<void> {
  const staged = files.map(([path, content]) => ({ path, content, temporary: `${path}.new` }));
  try {
    for (const { temporary, content } of staged) {
      // A file of an interrupted run may have another mode.
      await rm(temporary, { force: true });
      await writeFile(temporary, content, { mode: OWNER_ONLY, flag: 'wx', flush: true });
    }
    for (const { temporary, path } of staged) await rename(temporary, path);
  } finally {
    for (const { temporary } of staged) await rm(temporary, { force: true });
  }
}

/** @throws SignerError USAGE (`fail`) if this process can write no file beside `path` */
export async function requireWritable(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw usageError(
      `${path} cannot be written: its directory is absent or read-only; nothing is requested`,
      error,
    );
  });
}
