// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';

const SECONDS = { h: 3600, m: 60, s: 1 } as const;

/** 100 years: longer than any certificate, short enough that no date overflows. */
const MAX_SECONDS = 100 * 365 * 24 * 3600;

/**
 * Parses a Go duration in hours, minutes and seconds ("24h", "1h30m", "90s") into seconds.
 *
 * @throws SignerError DURATION_INVALID (`fail`)
 */
export function parseDuration(text: string): number {
  const parts = /^(?:(\d{1,10})h)?(?:(\d{1,10})m)?(?:(\d{1,10})s)?$/.exec(text);
  if (parts === null || text === '') {
    throw invalid(
      text,
      'is not in hours, minutes and seconds; write it like "24h", "1h30m" or "90s"',
    );
  }
  const [, hours = 0, minutes = 0, seconds = 0] = parts;
  const total = Number(hours) * SECONDS.h + Number(minutes) * SECONDS.m + Number(seconds);
  if (total > MAX_SECONDS)
    throw invalid(text, 'is longer than the limit of a hundred years; use a shorter one');
  return total;
}

/** Returns the shortest text that {@link parseDuration} reads as `seconds`. */
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

/** Milliseconds of a unit of Go's time.ParseDuration. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const NUMBER = String.raw`(?:\d+\.?\d*|\.\d+)`;

const UNIT = '(?:ns|us|µs|μs|ms|s|m|h)';

const WHOLE = new RegExp(`^[-+]?(?:${NUMBER}${UNIT})+$`);

const PARTS = new RegExp(`(${NUMBER})(${UNIT})`, 'g');

/** Limit in characters. Go prints a duration in at most 25. */
const MAX_GO_DURATION_TEXT = 64;

/**
 * Parses a `metav1.Duration` by the grammar of Go's time.ParseDuration (`2160h0m0s`, `1.5h`, `-1s`)
 * into seconds. Drops fractions of a second.
 *
 * @returns undefined if Go would not parse it
 */
export function parseGoDuration(text: string): number | undefined {
  if (/^[-+]?0$/.test(text)) return 0;
  if (text.length > MAX_GO_DURATION_TEXT || !WHOLE.test(text)) return undefined;
  const seconds = Math.floor(millisecondsOf(text) / 1_000);
  if (!Number.isSafeInteger(seconds)) return undefined;
  return text.startsWith('-') ? -seconds : seconds;
}

function millisecondsOf(text: string): number {
  return [...text.matchAll(PARTS)]
    .map(([, amount, unit = '']) => Number(amount) * (UNITS[unit] ?? 0))
    .reduce((sum, each) => sum + each, 0);
}
