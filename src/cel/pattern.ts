// SPDX-License-Identifier: Apache-2.0
import { SignerError, messageOf } from '../errors.ts';
import { compileRegex } from './regex.ts';

/**
 * A test of whole values against one RE2 pattern of a spec.
 *
 * @throws SignerError SPEC_INVALID (`wait`), naming the field and what RE2 says of the pattern
 */
export function compilePattern(pattern: string, where: string): (value: string) => boolean {
  try {
    const regex = compileRegex(pattern);
    return (value) => regex.testWhole(value);
  } catch (error) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: `${where}: "${pattern}" is not an RE2 expression: ${messageOf(error)}`,
      cause: error,
    });
  }
}
