// SPDX-License-Identifier: Apache-2.0

/** `metav1.MicroTime`: exactly six fraction digits; anything else is answered with 400. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
