// SPDX-License-Identifier: Apache-2.0
import { SignerError, type ErrorCode } from '#base/errors.ts';

/** A position in the source of an expression. */
export interface SourcePosition {
  /** Field with the expression, such as `spec.requests.rules[0].when`. */
  readonly where: string;
  readonly source: string;
  /** UTF-16 units from the start of `source`. */
  readonly offset: number;
}

/** Returns line and column, which start at 1 as in editors. */
export function position(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}

/**
 * Returns the error for a fault in the expression itself. Its author can correct it, so requests
 * wait.
 */
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
