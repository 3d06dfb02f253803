// SPDX-License-Identifier: Apache-2.0
import { attempt } from '../../errors.ts';
import type { RefusalRule } from '../refusal.ts';
import { checkKey } from '../../pki/keys/weak-keys.ts';

/** A key that can be broken identifies nobody, and stays so: a new one must be made. */
export const weakKey: RefusalRule = ({ request }) => {
  const weakness = attempt(() => {
    checkKey(request.publicKey);
    return undefined;
  });
  return weakness && { reason: 'WeakKey', message: weakness.message };
};
