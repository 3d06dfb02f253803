// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import { requestedNames } from '../../pki/requested-names.ts';
import type { RefusalRule } from '../refusal.ts';

/** A name with two spellings or two readings is matched by one and used by the other. */
export const malformedName: RefusalRule = ({ request }) => {
  try {
    requestedNames(request);
    return undefined;
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return { reason: 'MalformedName', message: error.message };
  }
};
