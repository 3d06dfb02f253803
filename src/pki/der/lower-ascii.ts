// SPDX-License-Identifier: Apache-2.0

/** A to Z only: the Kelvin sign must not become a k. */
export function lowerAscii(text: string): string {
  // Nearly every name is in lower case: a look costs a tenth of a replacement.
  if (!/[A-Z]/.test(text)) return text;
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
