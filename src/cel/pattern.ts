// SPDX-License-Identifier: Apache-2.0
import { SignerError, messageOf } from '../errors.ts';
import { compileRegex } from './regex.ts';

/** As long as the annotations that expressions see; a document has no place in a certificate. */
export const MAX_VALUE = 4_096;

/**
 * A test of whole values against one RE2 pattern of a spec. Values of more than {@link MAX_VALUE}
 * characters do not match, whatever the pattern.
 *
 * @throws SignerError SPEC_INVALID (`wait`), naming the field and what RE2 says of the pattern
 */
export function compilePattern(pattern: string, where: string): (value: string) => boolean {
  try {
    const regex = compileRegex(pattern, 'whole');
    return (value) => value.length <= MAX_VALUE && regex.testWhole(value);
  } catch (error) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: `${where}: "${pattern}" is not an RE2 expression: ${messageOf(error)}`,
      cause: error,
    });
  }
}
