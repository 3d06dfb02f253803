// SPDX-License-Identifier: Apache-2.0
/** Files with mode 0600. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { usageError } from '../../../errors.ts';
import { quote } from '../../../quote.ts';

const OWNER_ONLY = 0o600;

/** UTF-16 units: with `.kubeconfig` behind it, the name of a file in every file system. */
const MAX_FILE_STEM = 200;

/** Names that Windows takes for devices, in every directory and with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/**
 * Where the files of a name go: `directory`, always, with `_` for each character that is not a letter, a digit or
 * one of `._@-`, and for a hyphen at the beginning, which would make an option of the file name.
 *
 * @returns a path without an extension
 * @throws SignerError USAGE (`fail`) when nothing but dots would be left of the name
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
 * Writes a private key, and never overwrites one: it may belong to a request that is still pending.
 *
 * @param pem - PKCS#8
 * @throws SignerError USAGE (`fail`) when the file exists
 */
export async function writeNewKey(path: string, pem: string): Promise<void> {
  await writeFile(path, pem, { mode: OWNER_ONLY, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw usageError(
      `${path} exists and may belong to a pending request; move it away, or choose another directory with --out`,
    );
  });
}

/** Replaces a file. Removed first, so that the mode of an older file does not remain. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, content, { mode: OWNER_ONLY, flag: 'wx' });
}
