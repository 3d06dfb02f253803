// SPDX-License-Identifier: Apache-2.0
import { attempt } from '#base/errors.ts';
import type { PublicKeyInfo } from '#pki/keys/public-key.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import type { ViolationRule } from './violation.ts';
import * as messages from '../denial-messages.ts';

/** Rejects key types that `spec.profile.keyTypes` does not list. */
export const keyType: ViolationRule = ({ request, profile }) => {
  const { publicKey } = request;
  if (publicKey.keyType !== undefined && profile.keyTypes.includes(publicKey.keyType)) {
    return undefined;
  }
  return {
    reason: 'UnsupportedKeyType',
    message: messages.keyTypeNotAccepted(nameOf(publicKey), profile.keyTypes),
  };
};

function nameOf({ keyType: name, algorithm, bits }: PublicKeyInfo): string {
  return name ?? messages.keyOfSize(algorithm, bits);
}

/**
 * Rejects keys that can be broken, such as RSA keys with close primes. The requester must create
 * another key.
 */
export const weakKey: ViolationRule = ({ request }) => {
  const weakness = attempt(() => {
    checkKey(request.publicKey);
    return undefined;
  });
  return weakness && { reason: 'WeakKey', message: weakness.message };
};
