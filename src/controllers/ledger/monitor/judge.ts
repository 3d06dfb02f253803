// SPDX-License-Identifier: Apache-2.0
/** Whether a certificate is of one of our CAs, and whether its having no record can be explained. Pure. */
import { X509Certificate } from 'node:crypto';
import { MAX_BACKDATE_SECONDS } from '../../../api/signer/cluster-signer-limits.ts';
import { fingerprint } from '../../../pki/x509/certificate.ts';

/** A CA that a signer's status lists. */
export interface MonitoredCa {
  readonly certificate: X509Certificate;
  readonly fingerprint: string;
  /** Key of the signer's object. */
  readonly signer: string;
  /** Of the leaves that it may have signed. */
  readonly longestLeafSeconds: number;
}

/** A certificate whose issuer is one of our CAs, by name. */
export interface Candidate {
  readonly certificate: X509Certificate;
  readonly fingerprint: string;
  /** Those that may have signed it. */
  readonly cas: readonly MonitoredCa[];
}

/**
 * Reads a certificate as verifiers do (OpenSSL), not as strictly as we do: one that our own reader refuses could be used all the
 * same. Nothing for what no CA of ours is named the issuer of, and for the CAs themselves.
 */
export function candidateOf(der: Uint8Array, cas: readonly MonitoredCa[]): Candidate | undefined {
  const certificate = parsed(der);
  if (certificate === undefined) return undefined;
  const print = fingerprint(der);
  if (cas.some((ca) => ca.fingerprint === print)) return undefined;
  const named = cas.filter((ca) => certificate.checkIssued(ca.certificate));
  return named.length === 0 ? undefined : { certificate, fingerprint: print, cas: named };
}

/** The CA whose key signed it. */
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

/** Certificates that a component could not record, as it counted them. */
export interface LedgerGap {
  readonly key: string;
  readonly lost: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** What the ledger says of what it cannot know. */
export interface LedgerLimits {
  /** When the first record was appended, in milliseconds since 1970; nothing in an empty ledger. */
  readonly beginning: number | undefined;
  readonly gaps: readonly LedgerGap[];
}

/** Components begin to record one after the other when a ledger is installed. */
const SETTLING_MILLISECONDS = 15 * 60_000;
/** So long a leaf can be signed before it finds no room in memory. */
const HELD_MILLISECONDS = 10 * 60_000;
const BACKDATED_MILLISECONDS = MAX_BACKDATE_SECONDS * 1000;

/**
 * Why a certificate may have no record: it is older than the ledger, or its record was lost and counted. Whoever has stolen a key
 * chooses notBefore, so that this explains no CA certificate and none that lives longer than the CA's leaves; and a gap explains
 * no more certificates than it has lost.
 *
 * @param explained - how many certificates each gap explains already; counted up here
 */
export function explanationOf(
  certificate: X509Certificate,
  { longestLeafSeconds }: Pick<MonitoredCa, 'longestLeafSeconds'>,
  { beginning, gaps }: LedgerLimits,
  explained: Map<string, number>,
): string | undefined {
  const notBefore = certificate.validFromDate.getTime();
  const lifetime = certificate.validToDate.getTime() - notBefore;
  const longest = longestLeafSeconds * 1000 + BACKDATED_MILLISECONDS;
  if (certificate.ca || lifetime > longest) return undefined;
  if (notBefore < (beginning ?? Infinity) + SETTLING_MILLISECONDS) return 'BeforeLedger';
  const gap = gaps.find(
    ({ key, lost, from, to }) =>
      notBefore >= from - HELD_MILLISECONDS - BACKDATED_MILLISECONDS &&
      notBefore <= to &&
      (explained.get(key) ?? 0) < lost,
  );
  if (gap === undefined) return undefined;
  explained.set(gap.key, (explained.get(gap.key) ?? 0) + 1);
  return 'CountedGap';
}
