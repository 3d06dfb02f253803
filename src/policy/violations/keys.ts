// SPDX-License-Identifier: Apache-2.0
import type { PublicKeyInfo } from '../../pki/keys/public-key.ts';
import type { ViolationRule } from './violation.ts';
import { attempt } from '../../errors.ts';
import { checkKey } from '../../pki/keys/weak-keys.ts';

/** The profile says which keys its leaves may have; the message says which would do. */
export const keyType: ViolationRule = ({ request, profile }) => {
  const { publicKey } = request;
  if (publicKey.keyType !== undefined && profile.keyTypes.includes(publicKey.keyType)) {
    return undefined;
  }
  return {
    reason: 'UnsupportedKeyType',
    message: `the key is ${nameOf(publicKey)}; this signer takes ${profile.keyTypes.join(', ')}`,
  };
};

function nameOf({ keyType: name, algorithm, bits }: PublicKeyInfo): string {
  return name ?? `${algorithm} of ${bits} bits`;
}

/** A key that can be broken identifies nobody, and stays so: a new one must be made. */
export const weakKey: ViolationRule = ({ request }) => {
  const weakness = attempt(() => {
    checkKey(request.publicKey);
    return undefined;
  });
  return weakness && { reason: 'WeakKey', message: weakness.message };
};
