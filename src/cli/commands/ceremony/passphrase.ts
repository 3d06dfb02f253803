// SPDX-License-Identifier: Apache-2.0
/** Passphrases: from a file or a prompt, never from a flag, the environment or a log. */
import { stat } from 'node:fs/promises';
import { messageOf, usageError } from '#base/errors.ts';
import { requirePassphrase } from '#pki/keys/encrypted-key.ts';
import { readSecretFile } from '#cli/secret-file.ts';
import { askSecret } from '#cli/terminal.ts';

/** Permissions of the group and of others. */
const OTHERS = 0o077;

/**
 * Returns the passphrase of a key that exists.
 *
 * @param file - the file with the passphrase on its first line, or undefined for a prompt
 * @throws SignerError USAGE (`fail`) for a file that others may read, and without a terminal
 */
export async function passphraseOf(file: string | undefined, key: string): Promise<string> {
  return file === undefined ? askSecret(`Passphrase for ${key}: `) : readPassphrase(file);
}

/**
 * Returns the passphrase of a new key. At a prompt the user types it twice.
 *
 * @throws SignerError KEY_WEAK (`fail`) for a short one, or USAGE (`fail`)
 */
export async function newPassphrase(file: string | undefined, key: string): Promise<string> {
  if (file !== undefined) return requirePassphrase(await readPassphrase(file));
  const passphrase = requirePassphrase(await askSecret(`New passphrase for ${key}: `));
  if ((await askSecret('The same again: ')) === passphrase) return passphrase;
  throw usageError('the two passphrases differ');
}

async function readPassphrase(file: string): Promise<string> {
  try {
    const { mode } = await stat(file);
    if ((mode & OTHERS) !== 0) throw usageError(`others may read it; chmod 600 ${file}`);
    return await readSecretFile(file);
  } catch (error) {
    throw usageError(`the file with the passphrase: ${messageOf(error)}`);
  }
}
