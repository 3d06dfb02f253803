// SPDX-License-Identifier: Apache-2.0
import { parseTime } from '../../api/object/time.ts';
import { printable } from '../../quote.ts';
import { columns } from './columns.ts';
import type { AuthoritySummary, SignerSummary } from './signer-summary.ts';

const TITLES = ['CLUSTERSIGNER', 'READY', 'CA', 'PHASE', 'ENDS', 'NEXT'];
const WIDE_TITLES = ['SIGNER', 'NOT BEFORE', 'NOT AFTER', 'LEAVES EXPIRE BY', 'SERVED SINCE'];
/** Long enough to distinguish a signer's CAs, and to pass to the other verbs. */
const SHORT = 'sha256:'.length + 16;

/** How `show` is printed. */
export interface ShowForm {
  /** Milliseconds since the epoch: what relative times are from. */
  readonly now: number;
  readonly isWide: boolean;
  /** Columns of the terminal; undefined: none reads it. */
  readonly width?: number | undefined;
}

/** `show` for people: one row for each CA, what ends first above the others, then the warnings. */
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
    ...[signer.name, readyText(signer), 'none', '-', '-', '-'],
    ...[signer.signerName, '-', '-', '-', '-'],
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

/** In the largest unit of which there are two: `29d`, `90m`. Without its sign. */
export function spanText(seconds: number): string {
  const size = Math.abs(seconds);
  const [unit, length] = UNITS.find(([, each]) => size >= 2 * each) ?? ['s', 1];
  return `${Math.floor(size / length)}${unit}`;
}

/** `in 29d`, `3h ago`. */
function distanceText(at: string, now: number): string {
  const seconds = Math.round((parseTime(at) - now) / 1000);
  return seconds >= 0 ? `in ${spanText(seconds)}` : `${spanText(seconds)} ago`;
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
    next === undefined ? '-' : `${next.what} ${distanceText(next.at, now)}`,
    ...[signer.signerName, notBefore, notAfter],
    authority.leavesExpireBy ?? '-',
    authority.servedSince ?? '-',
  ];
}
