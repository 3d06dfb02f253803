// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';

const SECONDS = { h: 3600, m: 60, s: 1 } as const;

/** A hundred years: longer than any certificate, short enough that no date overflows. */
const MAX_SECONDS = 100 * 365 * 24 * 3600;

/**
 * Whole seconds of a Go duration in hours, minutes and seconds ("24h", "1h30m", "90s").
 *
 * @throws SignerError DURATION_INVALID (`fail`)
 */
export function parseDuration(text: string): number {
  if (!/^(?:\d{1,10}h)?(?:\d{1,10}m)?(?:\d{1,10}s)?$/.test(text) || text === '') {
    throw invalid(text, 'is not hours, minutes and seconds such as "24h", "1h30m" or "90s"');
  }
  let total = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+)([hms])/g)) {
    total += Number(digits) * SECONDS[unit as keyof typeof SECONDS];
  }
  if (total > MAX_SECONDS) throw invalid(text, 'is longer than a hundred years');
  return total;
}

/** The shortest text of {@link parseDuration} for `seconds`. */
export function formatDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = seconds % 60;
  const text = `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${rest > 0 ? `${rest}s` : ''}`;
  return text === '' ? '0s' : text;
}

function invalid(text: string, reason: string): SignerError {
  return new SignerError({
    code: 'DURATION_INVALID',
    disposition: 'fail',
    message: `duration "${text.slice(0, 40)}" ${reason}`,
  });
}
