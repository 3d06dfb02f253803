// SPDX-License-Identifier: Apache-2.0
import { MAX_CLOCK_OFFSET_MS, offsetText } from '../runtime/component/server-time.ts';

/**
 * Leaves are made by the API server's time, so nothing of ours suffers; but who sets his clock by the
 * same source as we do may not take them yet: this is half of what `profile.backdate` forgives by
 * default.
 */
const NOTED_MS = 30_000;

/** What /readyz says of our clock. @param offset - milliseconds ahead of the API server's */
export function clockWarnings(offset: number): readonly string[] {
  if (Math.abs(offset) < NOTED_MS) return [];
  const what =
    Math.abs(offset) > MAX_CLOCK_OFFSET_MS
      ? 'one of both is wrong, and nothing is signed until it is set right'
      : 'leaves carry the time of the API server';
  return [`${offsetText(offset)}; ${what}`];
}
