// SPDX-License-Identifier: Apache-2.0

/**
 * Reads JSON. What V8 says of JSON that is broken quotes it, and it may be a Secret that was torn apart:
 * errors are logged.
 *
 * @throws SyntaxError that repeats nothing
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new SyntaxError(`${text.length} characters that are not JSON`);
  }
}

/** `metav1.MicroTime`: exactly six fraction digits; anything else is answered with 400. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
