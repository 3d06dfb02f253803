// SPDX-License-Identifier: Apache-2.0
/**
 * Longest wait that a server may request: a rate limit of a week (Let's Encrypt's for equal names).
 */
const LONGEST_SECONDS = 7 * 24 * 3600;
/** Wait for `0` and for past dates, so that calls do not repeat at full speed. */
const SHORTEST_SECONDS = 1;

const DELTA = /^[0-9]{1,10}$/;
/** The three forms of RFC 9110 §5.6.7: IMF-fixdate, RFC 850, asctime. */
const FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads Retry-After (RFC 9110 §10.2.3), which is a number of seconds or a date. It compares a date
 * with the answer's own `Date`, if given, so that different clocks do not matter.
 *
 * @param now - milliseconds since 1970, for answers without `Date`
 * @returns milliseconds, whole seconds, between a second and a week, or undefined if the header is
 *   absent or unreadable
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  const text = retryAfter.trim();
  if (DELTA.test(text)) return clamped(Number(text));
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  return clamped(Math.ceil((until - (parseHttpDate(date?.trim() ?? '') ?? now)) / 1000));
}

function clamped(seconds: number): number {
  return Math.min(Math.max(seconds, SHORTEST_SECONDS), LONGEST_SECONDS) * 1000;
}

function parseHttpDate(text: string): number | undefined {
  const form = ASCTIME.test(text) ? `${text} GMT` : text;
  if (form === text && !FIXDATE.test(text) && !RFC850.test(text)) return undefined;
  const found = Date.parse(form);
  return Number.isNaN(found) ? undefined : found;
}
