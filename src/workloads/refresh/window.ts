// SPDX-License-Identifier: Apache-2.0
/**
 * The hours in which workloads may be restarted, in UTC:
 * `Mon-Fri 22:00-06:00; Sat,Sun 00:00-24:00`.
 */
import { type SignerError, usageError } from '#base/errors.ts';
import * as messages from './messages.ts';

/** Spans of a week: milliseconds since Monday 00:00 UTC, which may extend into the next week. */
export type RefreshWindow = readonly { readonly from: number; readonly until: number }[];

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05, the first Monday since the epoch. */
const FIRST_MONDAY = 4 * DAY_MS;
/** Maximum length of a window, which no readable schedule exceeds. */
const MAX_WINDOW_TEXT = 500;

const SPAN = /^(?:([A-Za-z,-]+)\s+)?(\d{2}):(\d{2})-(\d{2}):(\d{2})$/;

/**
 * Reads a window. `;` separates spans, `,` or `-` separates days. A span without days applies every
 * day. A span whose end is not after its beginning extends into the next day.
 *
 * @throws SignerError USAGE (`fail`)
 */
export function parseWindow(text: string): RefreshWindow {
  if (text.length > MAX_WINDOW_TEXT) throw invalid(text, messages.TOO_LONG);
  return text.split(';').flatMap((span) => spansOf(span.trim(), text));
}

function spansOf(span: string, text: string): RefreshWindow {
  const [, days, ...clock] = SPAN.exec(span) ?? [];
  const [fromHour = 99, fromMinute = 0, untilHour = 99, untilMinute = 0] = clock.map(Number);
  const from = minutesOf(fromHour, fromMinute, text);
  const until = minutesOf(untilHour, untilMinute, text);
  const length = until > from ? until - from : until - from + 24 * 60;
  return daysOf(days, text).map((day) => {
    const start = day * DAY_MS + from * MINUTE_MS;
    return { from: start, until: start + length * MINUTE_MS };
  });
}

function minutesOf(hour: number, minute: number, text: string): number {
  if (minute > 59 || hour * 60 + minute > 24 * 60) throw invalid(text, messages.NOT_READABLE);
  return hour * 60 + minute;
}

function daysOf(days: string | undefined, text: string): readonly number[] {
  if (days === undefined) return DAYS.map((_, index) => index);
  return days.split(',').flatMap((range) => {
    const [first, last = first, ...rest] = range.split('-').map((name) => dayOf(name));
    if (first === undefined || last === undefined || rest.length > 0) {
      throw invalid(text, messages.NOT_READABLE);
    }
    const count = ((last - first + 7) % 7) + 1;
    return Array.from({ length: count }, (_, index) => (first + index) % 7);
  });
}

function dayOf(name: string): number | undefined {
  const index = DAYS.findIndex((day) => day === name);
  return index < 0 ? undefined : index;
}

function invalid(text: string, why: string): SignerError {
  return usageError(messages.unreadableWindow(text, why));
}

/**
 * Returns the first time from `now` on at which a restart may begin, in milliseconds since the
 * epoch. Inside the window that is `now`.
 */
export function nextOpening(window: RefreshWindow, now: number): number {
  const ofWeek = (((now - FIRST_MONDAY) % WEEK_MS) + WEEK_MS) % WEEK_MS;
  const waits = window.map(({ from, until }) => {
    // The span of last week may still be open.
    const isOpen =
      (ofWeek >= from && ofWeek < until) || (ofWeek + WEEK_MS >= from && ofWeek + WEEK_MS < until);
    return isOpen ? 0 : (((from - ofWeek) % WEEK_MS) + WEEK_MS) % WEEK_MS;
  });
  return now + Math.min(...waits);
}
