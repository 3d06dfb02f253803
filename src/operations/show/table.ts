// SPDX-License-Identifier: Apache-2.0
import { printable } from '../../quote.ts';
import type { AuthoritySummary, SignerSummary } from './signer-summary.ts';

const TITLES = [
  'CLUSTERSIGNER',
  'FINGERPRINT',
  'PHASE',
  'NOT BEFORE',
  'NOT AFTER',
  'LEAVES EXPIRE BY',
  'SERVED SINCE',
  'NEXT',
];
const GAP = '   ';
/** Long enough to distinguish a signer's CAs, and to pass to the other verbs. */
const SHORT = 'sha256:'.length + 16;

/** `show` for people: one row for each CA, then the warnings. */
export function renderTable(signers: readonly SignerSummary[]): string {
  const rows = signers.flatMap((signer) =>
    signer.authorities.length === 0
      ? [[signer.name, 'none', signer.ready, '-', '-', '-', '-', '-']]
      : signer.authorities.map((each) => rowOf(signer, each)),
  );
  const lines = columns([TITLES, ...rows]);
  const warnings = signers.flatMap(({ name, warnings }) =>
    warnings.map((warning) => printable(`warning: ${name}: ${warning}`)),
  );
  return [...lines, ...warnings, ''].join('\n');
}

/** One line for each row, its cells under those of the first row: whatever a cell holds, it ends no line. */
export function columns(table: readonly (readonly string[])[]): readonly string[] {
  const rows = table.map((row) => row.map(printable));
  const [titles = []] = rows;
  const widths = titles.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function rowOf({ name }: SignerSummary, authority: AuthoritySummary): readonly string[] {
  const { next } = authority;
  return [
    name,
    authority.fingerprint.slice(0, SHORT),
    authority.phase,
    authority.notBefore,
    authority.notAfter,
    authority.leavesExpireBy ?? '-',
    authority.servedSince ?? '-',
    next === undefined ? '-' : `${next.what} ${next.at}`,
  ];
}
