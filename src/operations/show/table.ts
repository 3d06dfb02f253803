// SPDX-License-Identifier: Apache-2.0
import { parseTime } from '#api/object/time.ts';
import { printable } from '#base/quote.ts';
import { columns } from './columns.ts';
import type { AuthoritySummary, SignerSummary } from './signer-summary.ts';

/**
 * Length of a shortened fingerprint: enough to distinguish a signer's CAs, and to pass to the other
 * verbs.
 */
const SHORT = 'sha256:'.length + 16;

/** Format options of `show`. */
export interface ShowForm {
  /** Reference of relative times, in milliseconds since the epoch. */
  readonly now: number;
  readonly isWide: boolean;
  /** Columns of the terminal, if stdout is one. */
  readonly width?: number | undefined;
}

/** A CA of a signer, or a signer that has none. */
interface Row {
  readonly signer: SignerSummary;
  readonly authority: AuthoritySummary | undefined;
  readonly now: number;
}

/** A column: its title, and its text in a row, or undefined for `-`. */
type Column = readonly [title: string, textIn: (row: Row) => string | undefined];

const COLUMNS: readonly Column[] = [
  ['CLUSTERSIGNER', ({ signer }) => signer.name],
  ['READY', ({ signer }) => readyText(signer)],
  ['CA', ({ authority }) => authority?.fingerprint.slice(0, SHORT) ?? 'none'],
  ['PHASE', ({ authority }) => authority?.phase],
  ['ENDS', ({ authority, now }) => authority && distanceText(authority.notAfter, now)],
  ['NEXT', ({ authority, now }) => authority?.next && nextText(authority.next, now)],
];

const WIDE_COLUMNS: readonly Column[] = [
  ...COLUMNS,
  ['SIGNER', ({ signer }) => signer.signerName],
  ['NOT BEFORE', ({ authority }) => authority?.notBefore],
  ['NOT AFTER', ({ authority }) => authority?.notAfter],
  ['LEAVES EXPIRE BY', ({ authority }) => authority?.leavesExpireBy],
  ['SERVED SINCE', ({ authority }) => authority?.servedSince],
];

/**
 * Formats `show` as a table: one row for each CA, the first to expire on top, then the warnings.
 */
export function renderTable(
  signers: readonly SignerSummary[],
  { now, isWide, width }: ShowForm,
): string {
  const ends = ({ notAfter }: AuthoritySummary): number => parseTime(notAfter);
  const empty = signers.filter(({ authorities }) => authorities.length === 0);
  const none = empty.map((signer): Row => ({ signer, authority: undefined, now }));
  const rows = signers
    .flatMap((signer) => signer.authorities.map((authority) => ({ signer, authority, now })))
    .toSorted((a, b) => ends(a.authority) - ends(b.authority));
  const shown = isWide ? WIDE_COLUMNS : COLUMNS;
  const titles = shown.map(([title]) => title);
  const texts = [...none, ...rows].map((row) => shown.map(([, textIn]) => textIn(row) ?? '-'));
  const lines = columns([titles, ...texts], width);
  const warnings = signers.flatMap(({ name, warnings }) =>
    warnings.map((warning) => printable(`warning: ${name}: ${warning}`)),
  );
  return [...lines, ...warnings, ''].join('\n');
}

const UNITS: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
];

/**
 * Formats a duration in the largest unit of which there are two, without its sign: `29d`, `90m`.
 */
export function spanText(seconds: number): string {
  const size = Math.abs(seconds);
  const [unit, length] = UNITS.find(([, each]) => size >= 2 * each) ?? ['s', 1];
  return `${Math.floor(size / length)}${unit}`;
}

/** Formats a relative time: `in 29d`, `3h ago`. */
export function distanceText(at: string, now: number): string {
  const seconds = Math.round((parseTime(at) - now) / 1000);
  return seconds >= 0 ? `in ${spanText(seconds)}` : `${spanText(seconds)} ago`;
}

/** Formats the next event of a CA. A CA that may sign waits for `activate`, without a time. */
function nextText({ what, at }: NonNullable<AuthoritySummary['next']>, now: number): string {
  const distance = distanceText(at, now);
  if (parseTime(at) > now) return `${what} ${distance}`;
  if (what === 'may sign') return 'may sign now';
  return what === 'ends' ? `ended ${distance}` : `${what}, due ${distance}`;
}

function readyText({ ready }: SignerSummary): string {
  return ready.status === 'True' || ready.reason === undefined
    ? ready.status
    : `${ready.status} (${ready.reason})`;
}
