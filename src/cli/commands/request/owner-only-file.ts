// SPDX-License-Identifier: Apache-2.0
/** Files with mode 0600. */
import { rm, writeFile } from 'node:fs/promises';
import { SignerError } from '../../../errors.ts';

const OWNER_ONLY = 0o600;

/**
 * Writes a private key, and never overwrites one: it may belong to a request that is still pending.
 *
 * @param pem - PKCS#8
 * @throws SignerError USAGE (`fail`) when the file exists
 */
export async function writeNewKey(path: string, pem: string): Promise<void> {
  await writeFile(path, pem, { mode: OWNER_ONLY, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new SignerError({
      code: 'USAGE',
      disposition: 'fail',
      message: `${path} exists and may belong to a pending request; move it away, or choose another directory with --out`,
    });
  });
}

/** Replaces a file. Removed first, so that the mode of an older file does not remain. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { mode: OWNER_ONLY, flag: 'wx' });
}
