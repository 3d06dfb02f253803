// SPDX-License-Identifier: Apache-2.0

/**
 * Parses JSON. V8's errors quote the text, which may be part of a Secret, and errors are logged.
 * This one does not.
 *
 * @throws SyntaxError with the length of the text alone
 */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new SyntaxError(`invalid JSON of ${text.length} characters`);
  }
}

/**
 * Formats a `metav1.MicroTime` with six fraction digits. The API server answers 400 without them.
 */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
