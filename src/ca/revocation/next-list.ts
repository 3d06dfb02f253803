// SPDX-License-Identifier: Apache-2.0
import type { SigningCa } from '../issuance/signing-ca.ts';
import { FIRST_TIME } from '#pki/der/der-writer.ts';
import type { CertificateList, RevokedCertificate } from '#pki/x509/certificate-list.ts';
import type { CrlReason } from '#base/vocabulary.ts';
import { canonicalSerial, serialBytes, serialText } from './serial.ts';
import type { WantedList } from './wanted-list.ts';

const SECOND = 1000;

/** One certificate that a Revocation names. Times are milliseconds since 1970. */
export interface RevocationEntry {
  /** Hexadecimal digits. */
  readonly serial: string;
  readonly revokedAt: number;
  readonly reason: CrlReason;
  /** The expiry of the certificate. Undefined if it expires with its CA. */
  readonly notAfter: number | undefined;
}

/** The expiry of each certificate on a CRL, by its serial number as `serialText` writes it. */
export type Ends = ReadonlyMap<string, number>;

/** The inputs for the CRLs of one CA. */
export interface ListState {
  /** The previous CRL, if this CA's key signed it. */
  readonly previous: CertificateList | undefined;
  readonly ends: Ends;
  /** The entries of existing Revocations. */
  readonly entries: readonly RevocationEntry[];
  /** The highest cRLNumber that another record holds, or 0. */
  readonly knownNumber: number;
  readonly issuer: SigningCa;
  readonly validitySeconds: number;
  readonly backdateSeconds: number;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** The next CRL of a CA, or when to check again. */
export type NextList =
  | { readonly due: false; readonly lookAt: number }
  | {
      readonly due: true;
      readonly wanted: WantedList;
      readonly ends: Ends;
      /** The time at which the CRL after this one is due, if nothing is revoked before. */
      readonly lookAt: number;
    };

/**
 * Decides the next CRL of one CA. Synchronous and total.
 *
 * Entries of the previous CRL stay, even without their Revocation, until a CRL issued after the
 * certificate's end has listed them (RFC 5280 §3.3). A CRL is due when its entries change, when it
 * has lived half of its validity, when it begins in the future, and when the profile's validity has
 * become shorter.
 */
export function nextList(state: ListState): NextList {
  const { previous, issuer, now, validitySeconds, backdateSeconds } = state;
  const before = lastUpdate(state);
  const { revoked, ends } = entriesOf(state, before);
  const halfLife = (validitySeconds * SECOND) / 2;
  if (previous !== undefined && isSame(previous.revoked, revoked)) {
    const lookAt = Math.min(previous.nextUpdate - halfLife, now + halfLife);
    const isLonger = previous.nextUpdate > now + validitySeconds * SECOND + SECOND;
    const isCurrent = previous.thisUpdate <= now && previous.nextUpdate - halfLife > now;
    if (isCurrent && !isLonger) return { due: false, lookAt };
  }
  const second = Math.floor(now / SECOND);
  const thisUpdate = Math.max((second - backdateSeconds) * SECOND, before);
  const nextUpdate = (second + validitySeconds) * SECOND;
  const number = nextNumber([previous?.number ?? 0n, BigInt(state.knownNumber)], second);
  return {
    due: true,
    wanted: { issuer, number, thisUpdate, nextUpdate, revoked },
    ends,
    lookAt: now + halfLife,
  };
}

/**
 * Returns the seconds since 1970, or one more than any known number. A restored backup has a lower
 * number than the CRLs issued since, whose numbers are unknown.
 */
export function nextNumber(known: readonly bigint[], second: number): bigint {
  return known.map((each) => each + 1n).reduce((a, b) => (a > b ? a : b), BigInt(second));
}

/**
 * Returns the thisUpdate of the previous CRL, or 0. A clock that was ahead may have put it into the
 * future, and counts as now.
 */
function lastUpdate({ previous, now }: ListState): number {
  return Math.min(previous?.thisUpdate ?? 0, Math.floor(now / SECOND) * SECOND);
}

function entriesOf(
  state: ListState,
  before: number,
): {
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
    // The later of two, and never an unknown one. An entry that goes too early makes a revoked
    // certificate valid again.
    ends.set(text, Math.max(end, ends.get(text) ?? 0));
    if (known.has(text) || end < now) continue;
    // Verifiers refuse a listed certificate with any revocation date.
    const expressible = Math.max(FIRST_TIME, Math.min(revokedAt, now));
    const at = Math.floor(expressible / SECOND) * SECOND;
    known.set(text, { serial: serialBytes(text), revokedAt: at, reason });
  }
  const endOf = (text: string): number => ends.get(text) ?? issuer.notAfter;
  const kept = [...known].filter(([text]) => endOf(text) >= before);
  return {
    revoked: kept.map(([, each]) => each),
    ends: new Map(kept.map(([text]) => [text, endOf(text)])),
  };
}

function isSame(a: readonly RevokedCertificate[], b: readonly RevokedCertificate[]): boolean {
  const texts = new Set(a.map(({ serial }) => serialText(serial)));
  return a.length === b.length && b.every(({ serial }) => texts.has(serialText(serial)));
}
