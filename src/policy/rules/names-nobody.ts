// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../../errors.ts';
import { requestedNames } from '../../pki/x509/requested-names.ts';
import type { RefusalRule } from '../refusal.ts';

/** A leaf with neither a subject nor a subject alternative name identifies nobody (RFC 5280 §4.1.2.6). */
export const namesNobody: RefusalRule = ({ request, profile }) => {
  const names = attempt(() => requestedNames(request));
  // Names that cannot be read are malformed-name.ts' business.
  if (names instanceof SignerError || profile.copy.some((field) => names[field].length > 0)) {
    return undefined;
  }
  const taken = profile.copy.length === 0 ? 'nothing' : profile.copy.join(', ');
  return {
    reason: 'NamesNobody',
    message: `a leaf takes ${taken} of a request (spec.requests.copy), and this request has none of it`,
  };
};
