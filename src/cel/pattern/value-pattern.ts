// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { NO_DEADLINE, type Deadline } from '#base/ports.ts';
import { MAX_COMPILE_WORK, PatternSet, discardPatterns, tryRegex } from './regex.ts';

/** Limit on characters of a value, equal to that of annotations in CEL expressions. */
export const MAX_VALUE = 4_096;

/**
 * Creates a test that matches whole values against one RE2 pattern of a spec. A value of more than
 * {@link MAX_VALUE} characters never matches.
 *
 * @param beside - the other patterns of this part of the spec, whose sum {@link MAX_COMPILE_WORK}
 *   limits
 * @param deadline - stops its compilation and its tests
 * @throws SignerError SPEC_INVALID (`wait`), naming the field, with RE2's message
 */
export function compileValuePattern(
  pattern: string,
  where: string,
  beside: PatternSet = new PatternSet(),
  deadline: Deadline = NO_DEADLINE,
): (value: string) => boolean {
  const regex = deadline.compile(where, () => tryRegex(pattern, 'whole'));
  if (typeof regex === 'string') throw unusable(pattern, where, regex);
  beside.add(regex);
  if (beside.work > MAX_COMPILE_WORK) {
    throw unusable(
      pattern,
      where,
      'the patterns up to this one exceed the compile limit; use fewer and smaller repetitions',
    );
  }
  return (value) => {
    if (value.length > MAX_VALUE) return false;
    return deadline.evaluate(
      where,
      () => regex.testWhole(value),
      () => {
        discardPatterns([regex]);
      },
    );
  };
}

function unusable(pattern: string, where: string, why: string): SignerError {
  return new SignerError({
    code: 'SPEC_INVALID',
    disposition: 'wait',
    message: `${where}: cannot use the RE2 pattern "${pattern}": ${why}`,
  });
}
