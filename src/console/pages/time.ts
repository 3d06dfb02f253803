// SPDX-License-Identifier: Apache-2.0
/** CAs and leaves on one line of time. Pure. */
import { isKeyOf } from '#base/object-keys.ts';
import type { ReadResult } from '#diagnose/check/finding.ts';
import { mapSeen } from '#diagnose/check/reading/list-visible.ts';
import type { Facts } from '#diagnose/check/run-checks.ts';
import type { SignerSummary } from '#operations/show/signer-summary.ts';
import type { IssuedEntries } from '../readings.ts';
import { summariesOf } from './once.ts';

/** Spans of the page, and their milliseconds. */
export const SPANS = {
  '1h': 3_600_000,
  '1d': 86_400_000,
  '30d': 30 * 86_400_000,
  '1y': 365 * 86_400_000,
  '10y': 3_650 * 86_400_000,
} as const;
export type Span = keyof typeof SPANS;

/** The replacement of a certificate before it ends: automatic, by its holder, or none. */
export type Renewal = 'itself' | 'holder' | 'nothing';

/** A CA on the line of time. */
export interface CaBar {
  readonly signer: string;
  readonly fingerprint: string;
  readonly phase: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** The next scheduled event. */
  readonly mark?: { readonly what: string; readonly at: number };
}

/** A certificate that ends, and its renewal. */
export interface CertificateExpiry {
  readonly what: string;
  readonly signer: string;
  /** The fingerprint of a leaf, for its page. */
  readonly fingerprint?: string;
  /** RFC 3339. */
  readonly at: string;
  readonly renewal: Renewal;
  readonly by: string;
}

/** The data of the page Time. */
export interface TimeModel {
  readonly span: Span;
  readonly signer?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly bars: ReadResult<readonly CaBar[]>;
  /** Numbers of leaves that end in each equal part of the span. */
  readonly density: readonly number[];
  /** Soonest first. */
  readonly endings: readonly CertificateExpiry[];
  readonly total: number;
  readonly places: readonly string[];
  /** Number of records at which the search stopped, if the ledger has more. */
  readonly cutAt?: number | undefined;
}

/** Parts of the span: one is wide enough to be seen and pointed at on a phone. */
const PARTS = 60;
/** Rows of the table, and bars of the picture. */
const MAX_ENDINGS = 100;
/** The part of the span that lies before now. */
const PAST = 0.1;

/** Returns the span of an address. Unknown: a year. */
export function spanOf(text: string | undefined): Span {
  return text !== undefined && isKeyOf(SPANS, text) ? text : '1y';
}

/** Places CAs and leaves on the line of time. */
export function timeModel(
  { installed }: Facts,
  { entries, places, cutAt }: IssuedEntries,
  choice: { readonly span: Span; readonly signer: string | undefined; readonly now: number },
): TimeModel {
  const { span, signer, now } = choice;
  const length = SPANS[span];
  const from = now - length * PAST;
  const to = from + length;
  const states = installed?.signers ?? { lacks: 'read the installation' };
  const summaries = mapSeen(states, (facts) =>
    summariesOf(facts).filter(({ name }) => signer === undefined || name === signer),
  );
  const named = 'value' in summaries ? summaries.value : [];
  const signerNames = new Set(named.map(({ signerName }) => signerName));
  const leaves = entries.filter(
    ({ row }) => signer === undefined || signerNames.has(row.signerName),
  );
  const ends = leaves.map(({ row }) => Date.parse(row.notAfter));
  const endings = [...named.flatMap(caEndings), ...leaves.map(leafEnding)]
    .filter(({ at }) => Date.parse(at) > now)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return {
    span,
    signer,
    from,
    to,
    bars: mapSeen(summaries, (all) => all.flatMap(barsOf).slice(0, MAX_ENDINGS)),
    density: densityOf(ends, from, length),
    endings: endings.slice(0, MAX_ENDINGS),
    total: endings.length,
    places,
    cutAt,
  };
}

function densityOf(ends: readonly number[], from: number, length: number): readonly number[] {
  const parts = Array.from({ length: PARTS }, () => 0);
  for (const end of ends) {
    const index = Math.floor(((end - from) / length) * PARTS);
    const before = parts[index];
    if (before !== undefined) parts[index] = before + 1;
  }
  return parts;
}

function barsOf({ name, authorities }: SignerSummary): readonly CaBar[] {
  return authorities.map(({ fingerprint, phase, notBefore, notAfter, next }) => ({
    signer: name,
    fingerprint,
    phase,
    from: Date.parse(notBefore),
    to: Date.parse(notAfter),
    ...(next === undefined ? {} : { mark: { what: next.what, at: Date.parse(next.at) } }),
  }));
}

function caEndings({ name, authority, authorities }: SignerSummary): readonly CertificateExpiry[] {
  return authorities.map(({ fingerprint, phase, notAfter }) => ({
    what: `CA ${fingerprint.slice(0, 23)} (${phase})`,
    signer: name,
    at: notAfter,
    ...(authority === 'managed'
      ? { renewal: 'itself' as const, by: 'the component authority' }
      : { renewal: 'nothing' as const, by: 'not renewed: its owner must replace it' }),
  }));
}

function leafEnding({ row }: IssuedEntries['entries'][number]): CertificateExpiry {
  const { holder = '', names, signerName, fingerprint, notAfter, source } = row;
  const what = `${names[0] ?? 'certificate'}${holder === '' ? '' : ` of ${holder}`}`;
  return { what, signer: signerName, fingerprint, at: notAfter, ...renewalOf(holder, source) };
}

function renewalOf(holder: string, source: string): Pick<CertificateExpiry, 'renewal' | 'by'> {
  if (holder.startsWith('pod ')) return { renewal: 'itself', by: 'the kubelet of the pod' };
  if (source.startsWith('certificaterequest')) return { renewal: 'itself', by: 'cert-manager' };
  if (holder === '') return { renewal: 'holder', by: 'its component, or cert-manager' };
  return { renewal: 'nothing', by: 'not renewed: its user must request another' };
}
