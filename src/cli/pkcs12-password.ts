// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { messageOf, usageError } from '../errors.ts';
import { askSecret } from './terminal.ts';

/** Where the password is looked for when no file is named. */
export const PASSWORD_VARIABLE = 'COUNTERSIGN_PKCS12_PASSWORD';

/**
 * The password of a PKCS#12 file: from a file, else from {@link PASSWORD_VARIABLE}, else from the person at the
 * terminal. It is never a flag: every user of a machine can list those of its processes.
 *
 * @param file - whose first line it is
 * @param of - what the password is of, for the question
 * @throws SignerError USAGE (`fail`) when the file cannot be read, or nobody can be asked
 */
export async function pkcs12Password(
  file: string | undefined,
  of: string,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  if (file === undefined) {
    return environment[PASSWORD_VARIABLE] ?? (await askSecret(`Password for ${of}: `));
  }
  try {
    // Editors end the line; a password ends before that.
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw usageError(`the file with the password cannot be read: ${messageOf(error)}`);
  }
}
