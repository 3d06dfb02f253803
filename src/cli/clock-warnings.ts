// SPDX-License-Identifier: Apache-2.0
import { offsetText } from '../serving/offset-text.ts';

/**
 * Half of what `profile.backdate` forgives by default: from there on a leaf may not yet be valid where
 * it is used, and at five minutes the API server takes none.
 */
const APART_MS = 30_000;

/** What /readyz says of our clock. @param offset - milliseconds ahead of the API server's */
export function clockWarnings(offset: number): readonly string[] {
  if (Math.abs(offset) < APART_MS) return [];
  return [`${offsetText(offset)}; leaves carry our time, and five minutes off none is taken`];
}
