// SPDX-License-Identifier: Apache-2.0
/** Files that only their owner may read. */
import { rm, writeFile } from 'node:fs/promises';
import { SignerError } from '../../../errors.ts';

const OWNER_ONLY = 0o600;

/**
 * A key that is there already may be the only one of a request that still waits.
 *
 * @throws SignerError USAGE (`fail`) when there is one
 */
export async function keepKey(path: string, pem: string): Promise<void> {
  await writeFile(path, pem, { mode: OWNER_ONLY, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new SignerError({
      code: 'USAGE',
      disposition: 'fail',
      message: `${path} is there already, perhaps for a request that still waits; move it away, or write elsewhere with --out`,
    });
  });
}

/** Written anew, so that nobody keeps the rights that an older file gave. */
export async function replace(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { mode: OWNER_ONLY, flag: 'wx' });
}
