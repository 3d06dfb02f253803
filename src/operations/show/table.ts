// SPDX-License-Identifier: Apache-2.0
import { parseTime } from '#api/object/time.ts';
import { printable } from '#base/quote.ts';
import { columns } from './columns.ts';
import type { AuthoritySummary, SignerSummary } from './signer-summary.ts';

const TITLES = ['CLUSTERSIGNER', 'READY', 'CA', 'PHASE', 'ENDS', 'NEXT'];
const WIDE_TITLES = ['SIGNER', 'NOT BEFORE', 'NOT AFTER', 'LEAVES EXPIRE BY', 'SERVED SINCE'];
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

/**
 * Formats `show` as a table: one row for each CA, the first to expire on top, then the warnings.
 */
export function renderTable(
  signers: readonly SignerSummary[],
  { now, isWide, width }: ShowForm,
): string {
  const ends = ({ notAfter }: AuthoritySummary): number => parseTime(notAfter);
  const empty = signers.filter(({ authorities }) => authorities.length === 0);
  const rows = signers
    .flatMap((signer) => signer.authorities.map((authority) => ({ signer, authority })))
    .toSorted((a, b) => ends(a.authority) - ends(b.authority))
    .map(({ signer, authority }) => rowOf(signer, authority, now));
  const none = empty.map((signer) => [
    signer.name,
    readyText(signer),
    'none',
    '-',
    '-',
    '-',
    signer.signerName,
    '-',
    '-',
    '-',
    '-',
  ]);
  const table = [[...TITLES, ...WIDE_TITLES], ...none, ...rows];
  const lines = columns(isWide ? table : table.map((row) => row.slice(0, TITLES.length)), width);
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

function rowOf(signer: SignerSummary, authority: AuthoritySummary, now: number): readonly string[] {
  const { next, notBefore, notAfter } = authority;
  return [
    signer.name,
    readyText(signer),
    authority.fingerprint.slice(0, SHORT),
    authority.phase,
    distanceText(notAfter, now),
    next === undefined ? '-' : nextText(next, now),
    signer.signerName,
    notBefore,
    notAfter,
    authority.leavesExpireBy ?? '-',
    authority.servedSince ?? '-',
  ];
}
