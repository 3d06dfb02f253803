// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../../errors.ts';
import { requestedNames } from '../../pki/x509/requested-names.ts';
import type { RefusalRule } from '../refusal.ts';

/** A name with two spellings or two readings is matched by one and used by the other. */
export const malformedName: RefusalRule = ({ request }) => {
  const names = attempt(() => requestedNames(request));
  return names instanceof SignerError
    ? { reason: 'MalformedName', message: names.message }
    : undefined;
};
