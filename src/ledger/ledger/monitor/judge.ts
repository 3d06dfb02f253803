// SPDX-License-Identifier: Apache-2.0
/**
 * Decides whether a certificate is of a managed CA, and whether its missing record has an
 * explanation. Pure.
 */
import { X509Certificate } from 'node:crypto';
import { MAX_UNCHECKED_BACKDATE_SECONDS } from '#api/signer/cluster-signer-limits.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { validityOf } from '#pki/x509/validity.ts';

/** A CA that a signer's status lists. */
export interface MonitoredCa {
  readonly certificate: X509Certificate;
  readonly fingerprint: string;
  /** Key of the signer's object. */
  readonly signer: string;
  /** Longest lifetime of the leaves that it may have signed. */
  readonly longestLeafSeconds: number;
}

/** A certificate whose issuer is a managed CA, by name. */
export interface Candidate {
  readonly certificate: X509Certificate;
  readonly fingerprint: string;
  /** CAs that may have signed it. */
  readonly cas: readonly MonitoredCa[];
}

/**
 * Reads a certificate as verifiers do (OpenSSL). The stricter reader of this project would miss
 * certificates that are usable all the same. Returns undefined if no managed CA is named as the
 * issuer, and for the CAs themselves.
 */
export function candidateOf(der: Uint8Array, cas: readonly MonitoredCa[]): Candidate | undefined {
  const certificate = parsed(der);
  if (certificate === undefined) return undefined;
  const print = fingerprint(der);
  if (cas.some((ca) => ca.fingerprint === print)) return undefined;
  const named = cas.filter((ca) => certificate.checkIssued(ca.certificate));
  return named.length === 0 ? undefined : { certificate, fingerprint: print, cas: named };
}

/** Returns the CA whose key signed the certificate. */
export function signerOf({ certificate, cas }: Candidate): MonitoredCa | undefined {
  return cas.find((ca) => certificate.verify(ca.certificate.publicKey));
}

function parsed(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}

/** Number of certificates that a component could not record, and their period. */
export interface LedgerGap {
  readonly key: string;
  readonly lost: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** Explanation of a certificate whose record a gap has lost. */
const COUNTED_GAP = 'CountedGap';

/** Known limits of the ledger. */
export interface LedgerLimits {
  /** Time of the first append, in milliseconds since 1970. Undefined in an empty ledger. */
  readonly beginning: number | undefined;
  readonly gaps: readonly LedgerGap[];
}

/**
 * Settling time after the installation of a ledger, while components begin to record one after the
 * other.
 */
const SETTLING_MILLISECONDS = 15 * 60_000;
/** Longest time from signing a leaf until its record is dropped from memory. */
const HELD_MILLISECONDS = 10 * 60_000;
const BACKDATED_MILLISECONDS = MAX_UNCHECKED_BACKDATE_SECONDS * 1000;

/**
 * Returns the explanation for a missing record: the certificate is older than the ledger, or a
 * counted gap lost its record. An attacker with a stolen key chooses notBefore. Therefore CA
 * certificates, certificates that outlive the CA's leaves, and certificates without a readable
 * validity have no explanation, and a gap explains no more certificates than it has lost.
 * @param explained - number of certificates that each gap explains already; this function
 * increments it
 */
export function explanationOf(
  certificate: X509Certificate,
  { longestLeafSeconds }: Pick<MonitoredCa, 'longestLeafSeconds'>,
  { beginning, gaps }: LedgerLimits,
  explained: Map<string, number>,
): string | undefined {
  const validity = validityOf(certificate);
  if (validity === undefined) return undefined;
  const { notBefore, notAfter } = validity;
  const lifetime = notAfter - notBefore;
  const longest = longestLeafSeconds * 1000 + BACKDATED_MILLISECONDS;
  if (certificate.ca || lifetime > longest) return undefined;
  if (notBefore < (beginning ?? Infinity) + SETTLING_MILLISECONDS) return 'BeforeLedger';
  if (!countInGap(notBefore, gaps, explained)) return undefined;
  return COUNTED_GAP;
}

/** Counts a certificate for the first gap that may have lost its record, if there is any. */
function countInGap(
  notBefore: number,
  gaps: readonly LedgerGap[],
  explained: Map<string, number>,
): boolean {
  const gap = gaps.find(
    ({ key, lost, from, to }) =>
      notBefore >= from - HELD_MILLISECONDS - BACKDATED_MILLISECONDS &&
      notBefore <= to &&
      (explained.get(key) ?? 0) < lost,
  );
  if (gap === undefined) return false;
  explained.set(gap.key, (explained.get(gap.key) ?? 0) + 1);
  return true;
}

/**
 * Returns how many certificates each gap explains by the findings of earlier processes. Otherwise
 * each restart would let a gap hide as many certificates again.
 */
export function explainedBefore(
  findings: readonly { readonly notBefore: string; readonly explanation?: string }[],
  gaps: readonly LedgerGap[],
): Map<string, number> {
  const explained = new Map<string, number>();
  for (const { notBefore, explanation } of findings)
    if (explanation === COUNTED_GAP) countInGap(Date.parse(notBefore), gaps, explained);
  return explained;
}
