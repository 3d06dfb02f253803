// SPDX-License-Identifier: Apache-2.0
import { SignerError, type ErrorCode } from '../errors.ts';

/** A place in an expression that somebody wrote. */
export interface SourcePosition {
  /** The field that holds it, such as `spec.requests.rules[0].when`. */
  readonly where: string;
  readonly source: string;
  /** UTF-16 units from the start of `source`. */
  readonly offset: number;
}

/** Lines and columns start at 1, as editors count them. */
export function position(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}

/** A fault of the expression itself: whoever wrote it can mend it, so requests wait. */
export function invalidExpression(
  code: Extract<ErrorCode, 'CEL_INVALID' | 'CEL_COST'>,
  place: SourcePosition,
  message: string,
): SignerError {
  const { line, column } = position(place.source, place.offset);
  return new SignerError({
    code,
    disposition: 'wait',
    message: `${place.where}: line ${line}, column ${column}: ${message}`,
  });
}
