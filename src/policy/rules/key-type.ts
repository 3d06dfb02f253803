// SPDX-License-Identifier: Apache-2.0
import type { PublicKeyInfo } from '../../pki/keys/public-key.ts';
import type { RefusalRule } from '../refusal.ts';

/** The profile says which keys its leaves may have; the message says which would do. */
export const keyType: RefusalRule = ({ request, profile }) => {
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
