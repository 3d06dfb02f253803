// SPDX-License-Identifier: Apache-2.0
import { SignerError, messageOf } from '../../errors.ts';
import { compileRegex, MAX_COMPILE_WORK, type PatternSet, compileWorkOf } from './regex.ts';

/** Characters of a value; the same limit as for annotations in CEL expressions. */
export const MAX_VALUE = 4_096;

/**
 * Makes a test that matches whole values against one RE2 pattern of a spec. A value of more than
 * {@link MAX_VALUE} characters never matches.
 *
 * @param beside - the other patterns of this part of the spec: {@link MAX_COMPILE_WORK} limits their sum
 * @throws SignerError SPEC_INVALID (`wait`), naming the field, with RE2's message
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
      throw new Error(
        'the patterns up to this one exceed the compile limit; use fewer and smaller repetitions',
      );
    }
    return (value) => value.length <= MAX_VALUE && regex.testWhole(value);
  } catch (error) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: `${where}: cannot use the RE2 pattern "${pattern}": ${messageOf(error)}`,
      cause: error,
    });
  }
}
