// SPDX-License-Identifier: Apache-2.0
/** The key of a CA in a token, and how the token signs with it. The CA certificate has its type. */
import { hash } from 'node:crypto';
import { usageError } from '#base/errors.ts';
import type { CaKey } from '#ca/custody/ca-key.ts';
import type { TokenKeyEntry } from '#ca/key-holder/configuration.ts';
import { keyObjectOf, type PublicKeyInfo } from '#pki/keys/public-key.ts';
import { encodeEcdsaSignature, signatureScheme } from '#pki/keys/signature-algorithm.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import type { Token, TokenKey } from './token.ts';

/**
 * Returns how a token signs with a key. ECDSA signs a hash that is computed here, because few
 * tokens compute it.
 *
 * @throws SignerError USAGE (`fail`) for a key type that is not supported in tokens
 */
export function tokenKeyOf(
  name: string,
  { label, id }: TokenKeyEntry,
  publicKey: PublicKeyInfo,
): TokenKey {
  const scheme = signatureScheme(keyObjectOf(publicKey));
  const { digest } = scheme;
  const isEcdsa = publicKey.algorithm === 'ECDSA';
  if (digest === null || (!isEcdsa && publicKey.algorithm !== 'RSA')) {
    throw usageError(`keys of type ${scheme.name} in a token are not supported; use ECDSA or RSA`);
  }
  return {
    name,
    reference: {
      ...(label === undefined ? {} : { label }),
      ...(id === undefined ? {} : { id }),
    },
    mechanism: isEcdsa ? 'ecdsa' : 'rsa',
    prepare: (message) => (isEcdsa ? hash(digest, message, 'buffer') : message),
    isSignature: (message, signature) =>
      verifySignature(publicKey, scheme.der, message, encoded(isEcdsa, signature)),
  };
}

/** Returns a key in a token as the key of a CA. */
export function caKeyIn(
  token: Token,
  { name, mechanism }: TokenKey,
  publicKey: PublicKeyInfo,
): CaKey {
  return {
    spki: publicKey.spki,
    algorithm: signatureScheme(keyObjectOf(publicKey)),
    sign: async (data) => encoded(mechanism === 'ecdsa', await token.sign(name, data)),
  };
}

function encoded(isEcdsa: boolean, signature: Uint8Array): Uint8Array {
  return isEcdsa ? encodeEcdsaSignature(signature) : signature;
}
