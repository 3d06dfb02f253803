// SPDX-License-Identifier: Apache-2.0
import { SignerError, messageOf } from '../../errors.ts';
import { compileRegex, MAX_COMPILE_WORK, type PatternSet, compileWorkOf } from './regex.ts';

/** As long as the annotations that expressions see; a document has no place in a certificate. */
export const MAX_VALUE = 4_096;

/**
 * A test of whole values against one RE2 pattern of a spec. Values of more than {@link MAX_VALUE}
 * characters do not match, whatever the pattern.
 *
 * @param beside - those of the same part of a spec, which may not be too dear to make together
 * @throws SignerError SPEC_INVALID (`wait`), naming the field and what RE2 says of the pattern
 */
export function compileValuePattern(
  pattern: string,
  where: string,
  beside: PatternSet = new Set(),
): (value: string) => boolean {
  try {
    const regex = compileRegex(pattern, 'whole');
    beside.add(regex);
    if (compileWorkOf(beside) > MAX_COMPILE_WORK) {
      throw new Error('the patterns up to it take too much to make: repeat less in them');
    }
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
