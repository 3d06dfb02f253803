// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { access } from 'node:fs/promises';
import { usageError } from '#base/errors.ts';
import { encodePkcs12 } from '#pki/keystores/encode-pkcs12.ts';
import { requirePassword } from '#pki/keystores/password.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { pkcs12Password } from '#cli/pkcs12-password.ts';
import type { FileToWrite } from './owner-only-file.ts';

/** The flags of a PKCS#12 file. */
export interface Pkcs12Options {
  readonly pkcs12?: string;
  readonly pkcs12PasswordFile?: string;
  /** True if a renewal replaces the file. */
  readonly renew: boolean;
}

/** Returns the file once the certificate is issued, or nothing if the user wants none. */
export type RenderPkcs12 = (
  alias: string,
  key: KeyObject,
  chain: string,
) => Promise<readonly FileToWrite[]>;

/**
 * Gets the password before the request.
 *
 * @throws SignerError USAGE (`fail`) for a file that exists without `renew`, and for a missing or
 * bad password
 */
export async function preparePkcs12(
  { pkcs12: file, pkcs12PasswordFile, renew }: Pkcs12Options,
  environment: NodeJS.ProcessEnv,
): Promise<RenderPkcs12> {
  if (file === undefined) {
    if (pkcs12PasswordFile === undefined) return () => Promise.resolve([]);
    throw usageError('--pkcs12-password-file is of no use without --pkcs12 FILE');
  }
  if (!renew && (await exists(file))) {
    throw usageError(
      `${file} exists and may have a key that is in use; move it away, name another, or replace all files by --renew`,
    );
  }
  const password = requirePassword(await pkcs12Password(pkcs12PasswordFile, file, environment));
  return async (alias, key, chain) => {
    const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
    const certificates = decodePemAll(chain, 'CERTIFICATE');
    const der = await encodePkcs12({ keys: [{ alias, pkcs8, chain: certificates }] }, password);
    return [[file, der]];
  };
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
