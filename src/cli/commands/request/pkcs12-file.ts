// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { access } from 'node:fs/promises';
import { usageError } from '#base/errors.ts';
import { encodePkcs12 } from '#pki/keystores/encode-pkcs12.ts';
import { requirePassword } from '#pki/keystores/password.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { pkcs12Password } from '#cli/pkcs12-password.ts';
import { replaceFile } from './owner-only-file.ts';

/** The flags of a PKCS#12 file. */
export interface Pkcs12Options {
  readonly pkcs12?: string;
  readonly pkcs12PasswordFile?: string;
}

/** Writes the file once the certificate is issued. */
export type WritePkcs12 = (alias: string, key: KeyObject, chain: string) => Promise<void>;

/**
 * Gets the password before the request.
 *
 * @returns undefined if the user wants no PKCS#12 file
 * @throws SignerError USAGE (`fail`) for a file that exists, and for a missing or bad password
 */
export async function preparePkcs12(
  { pkcs12: file, pkcs12PasswordFile }: Pkcs12Options,
  environment: NodeJS.ProcessEnv,
): Promise<WritePkcs12 | undefined> {
  if (file === undefined) {
    if (pkcs12PasswordFile === undefined) return undefined;
    throw usageError('--pkcs12-password-file is of no use without --pkcs12 FILE');
  }
  if (await exists(file)) {
    throw usageError(
      `${file} exists and may have a key that is in use; move it away, or name another`,
    );
  }
  const password = requirePassword(await pkcs12Password(pkcs12PasswordFile, file, environment));
  return async (alias, key, chain) => {
    const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
    const certificates = decodePemAll(chain, 'CERTIFICATE');
    const der = await encodePkcs12({ keys: [{ alias, pkcs8, chain: certificates }] }, password);
    await replaceFile(file, der);
  };
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
