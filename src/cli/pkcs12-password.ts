// SPDX-License-Identifier: Apache-2.0
import { messageOf, usageError } from '#base/errors.ts';
import { readSecretFile } from './secret-file.ts';
import { askSecret } from './terminal.ts';

/** Variable with the password if the user names no file. */
export const PASSWORD_VARIABLE = 'COUNTERSIGN_PKCS12_PASSWORD';

/**
 * Returns the password of a PKCS#12 file: from a file, else from {@link PASSWORD_VARIABLE}, else
 * from the user at the terminal. It is never a flag, because every user of a machine can list the
 * arguments of its processes.
 *
 * @param file - the file with the password on its first line
 * @param of - owner of the password, for the question
 * @throws SignerError USAGE (`fail`) if the file cannot be read, or stdin is not a terminal
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
    return await readSecretFile(file);
  } catch (error) {
    throw usageError(`the file with the password cannot be read: ${messageOf(error)}`);
  }
}
