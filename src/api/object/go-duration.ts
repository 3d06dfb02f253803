// SPDX-License-Identifier: Apache-2.0

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

/** Longer texts say no more: Go prints a duration in 25 characters. */
const MAX_TEXT = 64;

/**
 * Whole seconds of a `metav1.Duration` as somebody else wrote it, by the grammar of Go's
 * time.ParseDuration: `2160h0m0s`, `1.5h`, `-1s`. Fractions of a second are dropped.
 *
 * @returns undefined where Go would not read it
 */
export function parseGoDuration(text: string): number | undefined {
  if (/^[-+]?0$/.test(text)) return 0;
  if (text.length > MAX_TEXT || !WHOLE.test(text)) return undefined;
  const seconds = Math.floor(millisecondsOf(text) / 1_000);
  if (!Number.isSafeInteger(seconds)) return undefined;
  return text.startsWith('-') ? -seconds : seconds;
}

function millisecondsOf(text: string): number {
  return [...text.matchAll(PARTS)]
    .map(([, amount, unit = '']) => Number(amount) * (UNITS[unit] ?? 0))
    .reduce((sum, each) => sum + each, 0);
}
