// SPDX-License-Identifier: Apache-2.0
import type { SigningCa } from '../issuance/signing-ca.ts';
import type { CertificateList, RevokedCertificate } from '../pki/x509/certificate-list.ts';
import type { CrlReason } from '../vocabulary.ts';
import { canonicalSerial, serialBytes, serialText } from './serial.ts';
import type { WantedList } from './wanted-list.ts';

const SECOND = 1000;

/** One certificate that a Revocation names. Times are milliseconds since 1970. */
export interface RevocationEntry {
  /** Hexadecimal digits. */
  readonly serial: string;
  readonly revokedAt: number;
  readonly reason: CrlReason;
  /** When the certificate expires; undefined: when its CA does. */
  readonly notAfter: number | undefined;
}

/** When each certificate of a CRL expires, by its serial number as `serialText` writes it. */
export type Ends = ReadonlyMap<string, number>;

/** What the CRLs of one CA depend on. */
export interface ListState {
  /** The CRL before, as far as its signature is this CA's. */
  readonly previous: CertificateList | undefined;
  readonly ends: Ends;
  /** Of Revocations that stand. */
  readonly entries: readonly RevocationEntry[];
  /** The highest cRLNumber that anything else remembers; 0 for none. */
  readonly knownNumber: number;
  readonly issuer: SigningCa;
  readonly validitySeconds: number;
  readonly backdateSeconds: number;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** The next CRL of a CA, or when to look again. */
export type NextList =
  | { readonly due: false; readonly lookAt: number }
  | {
      readonly due: true;
      readonly wanted: WantedList;
      readonly ends: Ends;
      /** When the CRL after this one is due, if nothing is revoked before. */
      readonly lookAt: number;
    };

/**
 * Decides the next CRL of one CA. Synchronous and total.
 *
 * What was on the CRL before stays on it, whether its Revocation still stands or not, until it has been on a CRL that
 * was issued after the certificate's end (RFC 5280 §3.3). A CRL is due when its entries change, when it has lived half
 * of its validity, and when the profile's validity has become shorter.
 */
export function nextList(state: ListState): NextList {
  const { previous, issuer, now, validitySeconds, backdateSeconds } = state;
  const { revoked, ends } = entriesOf(state);
  const halfLife = (validitySeconds * SECOND) / 2;
  if (previous !== undefined && isSame(previous.revoked, revoked)) {
    const lookAt = Math.min(previous.nextUpdate - halfLife, now + halfLife);
    const isLonger = previous.nextUpdate > now + validitySeconds * SECOND + SECOND;
    if (previous.nextUpdate - halfLife > now && !isLonger) return { due: false, lookAt };
  }
  const second = Math.floor(now / SECOND);
  const thisUpdate = Math.max((second - backdateSeconds) * SECOND, previous?.thisUpdate ?? 0);
  const nextUpdate = (second + validitySeconds) * SECOND;
  const number = numberOf(state, second);
  return {
    due: true,
    wanted: { issuer, number, thisUpdate, nextUpdate, revoked },
    ends,
    lookAt: now + halfLife,
  };
}

/**
 * The seconds since 1970, or one more than any number that is known: a backup that is restored has a lower number than
 * the CRLs that were issued since, and nobody knows theirs.
 */
function numberOf({ previous, knownNumber }: ListState, second: number): bigint {
  const after = [previous?.number ?? 0n, BigInt(knownNumber)].map((each) => each + 1n);
  return [BigInt(second), ...after].reduce((a, b) => (a > b ? a : b));
}

function entriesOf(state: ListState): {
  readonly revoked: readonly RevokedCertificate[];
  readonly ends: Ends;
} {
  const { previous, issuer, now } = state;
  const listed = (previous?.revoked ?? []).map((each) => [serialText(each.serial), each] as const);
  const known = new Map(listed);
  const ends = new Map(state.ends);
  for (const { serial, revokedAt, reason, notAfter } of state.entries) {
    const text = canonicalSerial(serial);
    const end = notAfter ?? issuer.notAfter;
    // The later of two, and never what is unknown: an entry that goes too early is a certificate that is valid again.
    ends.set(text, Math.max(end, ends.get(text) ?? 0));
    if (known.has(text) || end < now) continue;
    const at = Math.floor(Math.min(revokedAt, now) / SECOND) * SECOND;
    known.set(text, { serial: serialBytes(text), revokedAt: at, reason });
  }
  const endOf = (text: string): number => ends.get(text) ?? issuer.notAfter;
  const kept = [...known].filter(([text]) => endOf(text) >= (previous?.thisUpdate ?? 0));
  return {
    revoked: kept.map(([, each]) => each),
    ends: new Map(kept.map(([text]) => [text, endOf(text)])),
  };
}

function isSame(a: readonly RevokedCertificate[], b: readonly RevokedCertificate[]): boolean {
  const texts = new Set(a.map(({ serial }) => serialText(serial)));
  return a.length === b.length && b.every(({ serial }) => texts.has(serialText(serial)));
}
