// SPDX-License-Identifier: Apache-2.0

/**
 * Parses JSON. The errors of V8 quote the text, which may be part of a Secret, and errors are logged; this one does not.
 *
 * @throws SyntaxError with the length of the text alone
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new SyntaxError(`invalid JSON of ${text.length} characters`);
  }
}

/** Formats a `metav1.MicroTime`: six fraction digits, without which the API server responds with 400. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
