// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '#api/object/time.ts';
import { findCondition, setCondition } from '#api/request/conditions.ts';
import { LISTED } from '#api/revocation/names.ts';
import type { Revocation, RevocationSpec, RevocationStatus } from '#api/revocation/revocation.ts';
import { CRL_NOT_SIGNED } from '#api/serving/report.ts';
import type { CertificateList } from '#pki/x509/certificate-list.ts';
import { canonicalSerial, serialText } from '#ca/revocation/serial.ts';
import * as messages from '../messages.ts';

type Certificates = RevocationSpec['certificates'];

/** A published CRL and the fingerprint of its CA. */
export interface PublishedList {
  readonly fingerprint: string;
  readonly list: CertificateList;
}

/** The CRLs and CAs of a ClusterSigner. */
export interface PublishedLists {
  /** The CRLs that verifiers can fetch. */
  readonly lists: readonly PublishedList[];
  /** Fingerprints of the CAs whose key the ClusterSigner has. */
  readonly held: ReadonlySet<string>;
}

/**
 * Returns the status of a Revocation after these CRLs were published.
 *
 * @param now - milliseconds
 * @returns undefined if its status is up to date
 */
export function revocationStatus(
  revocation: Revocation,
  { lists, held }: PublishedLists,
  now: number,
): RevocationStatus | undefined {
  const { status = {}, metadata } = revocation;
  const missing = missingOf(revocation, lists, now);
  const outcome =
    missing.length === 0
      ? { status: 'True' as const, reason: 'Listed', message: listedMessage(revocation) }
      : { status: 'False' as const, ...causeOf(missing, held) };
  const found = findCondition(status.conditions, LISTED);
  if (found?.status === 'True' || found?.reason === outcome.reason) return undefined;
  const number = lists.reduce((most, { list }) => Math.max(most, Number(list.number)), 0);
  const conditions = setCondition(status.conditions, {
    type: LISTED,
    lastTransitionTime: formatTime(now),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    ...outcome,
  });
  return { ...status, conditions, ...(missing.length === 0 ? { crlNumber: number } : {}) };
}

function listedMessage({ spec: { certificates } }: Revocation): string {
  const isEachNamed = certificates.every(({ authority }) => authority !== undefined);
  return isEachNamed ? messages.ALL_LISTED : messages.LISTED_BY_EACH;
}

/** Returns why no CRL lists these certificates. A lost key comes first, since a person must act. */
function causeOf(
  missing: Certificates,
  held: ReadonlySet<string>,
): { readonly reason: string; readonly message: string } {
  const unknown = missing.filter(({ authority }) =>
    authority === undefined ? held.size === 0 : !held.has(authority),
  ).length;
  return unknown > 0
    ? { reason: 'AuthorityUnknown', message: messages.unlistedCertificates(unknown) }
    : { reason: CRL_NOT_SIGNED, message: messages.unsignedCertificates(missing.length) };
}

/** Returns the unexpired certificates that no CRL lists. */
function missingOf(
  { spec }: Revocation,
  lists: readonly PublishedList[],
  now: number,
): Certificates {
  const isLiving = (notAfter: string | undefined): boolean =>
    notAfter === undefined || parseTime(notAfter) >= now;
  return spec.certificates.filter(({ serial, authority, notAfter }) => {
    if (!isLiving(notAfter)) return false;
    const of = lists.filter((each) => authority === undefined || authority === each.fingerprint);
    const text = canonicalSerial(serial);
    return !of.some(({ list }) => list.revoked.some((each) => serialText(each.serial) === text));
  });
}
