// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import { checkKey } from '../../pki/keys.ts';
import type { RefusalRule } from '../refusal.ts';

/** A key that can be broken identifies nobody, and stays so: a new one must be made. */
export const weakKey: RefusalRule = ({ request }) => {
  try {
    checkKey(request.publicKey);
    return undefined;
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return { reason: 'WeakKey', message: error.message };
  }
};
