// SPDX-License-Identifier: Apache-2.0
/** The places of a ceremony's keys. */
import { randomBytes } from 'node:crypto';
import { usageError } from '#base/errors.ts';
import type { AuthorityKeyType } from '#base/vocabulary.ts';
import { caKeyOf, type CaKey } from '#ca/custody/ca-key.ts';
import { decryptPrivateKey, encryptPrivateKey } from '#pki/keys/encrypted-key.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { readInput } from './files.ts';

/** A key that a ceremony makes. */
export interface NewKey {
  readonly key: CaKey;
  /** The contents of its file. */
  readonly contents: Uint8Array;
}

/**
 * A place of keys. Encrypted files are the only one yet. A token would be a second one, which
 * returns keys without contents.
 */
export interface CeremonyKeyStore {
  readonly create: (keyType: AuthorityKeyType, passphrase: string) => Promise<NewKey>;
  readonly open: (passphrase: string) => Promise<CaKey>;
}

/**
 * Returns the store of a key in an encrypted PKCS#8 file.
 *
 * @param field - the field of the ceremony's file that names it, for messages
 */
export function encryptedFile(directory: string, path: string, field: string): CeremonyKeyStore {
  return {
    create: async (keyType, passphrase) => {
      const { key } = await generatePrivateKey(keyType);
      const pem = await encryptPrivateKey(key, passphrase, (size) => randomBytes(size));
      return { key: caKeyOf(key), contents: Buffer.from(pem) };
    },
    open: async (passphrase) => {
      const contents = await readInput(directory, path, field);
      try {
        return caKeyOf(decryptPrivateKey(Buffer.from(contents).toString('latin1'), passphrase));
      } catch (error) {
        throw usageError(`${field}: ${path}: ${error instanceof Error ? error.message : ''}`);
      }
    },
  };
}
