// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '#api/object/time.ts';
import { findCondition, setCondition } from '#api/request/conditions.ts';
import { LISTED } from '#api/revocation/names.ts';
import type { Revocation, RevocationStatus } from '#api/revocation/revocation.ts';
import type { CertificateList } from '#pki/x509/certificate-list.ts';
import { canonicalSerial, serialText } from '#ca/revocation/serial.ts';
import * as messages from '../messages.ts';

/** A published CRL and the fingerprint of its CA. */
export interface PublishedList {
  readonly fingerprint: string;
  readonly list: CertificateList;
}

/**
 * Returns the status of a Revocation after these CRLs were published.
 *
 * @param now - milliseconds
 * @returns undefined if its status is up to date
 */
export function revocationStatus(
  revocation: Revocation,
  lists: readonly PublishedList[],
  now: number,
): RevocationStatus | undefined {
  const { status = {}, metadata } = revocation;
  const missing = missingOf(revocation, lists, now);
  const found = findCondition(status.conditions, LISTED);
  if (found?.status === 'True' || (missing > 0 && found?.status === 'False')) return undefined;
  const number = lists.reduce((most, { list }) => Math.max(most, Number(list.number)), 0);
  const conditions = setCondition(status.conditions, {
    type: LISTED,
    lastTransitionTime: formatTime(now),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    ...(missing === 0
      ? { status: 'True', reason: 'Listed', message: listedMessage(revocation) }
      : {
          status: 'False',
          reason: 'AuthorityUnknown',
          message: messages.unlistedCertificates(missing),
        }),
  });
  return { ...status, conditions, ...(missing === 0 ? { crlNumber: number } : {}) };
}

function listedMessage({ spec: { certificates } }: Revocation): string {
  const isEachNamed = certificates.every(({ authority }) => authority !== undefined);
  return isEachNamed ? messages.ALL_LISTED : messages.LISTED_BY_EACH;
}

/** Counts the unexpired certificates that no CRL lists. */
function missingOf({ spec }: Revocation, lists: readonly PublishedList[], now: number): number {
  const isLiving = (notAfter: string | undefined): boolean =>
    notAfter === undefined || parseTime(notAfter) >= now;
  return spec.certificates.filter(({ serial, authority, notAfter }) => {
    if (!isLiving(notAfter)) return false;
    const of = lists.filter((each) => authority === undefined || authority === each.fingerprint);
    const text = canonicalSerial(serial);
    return !of.some(({ list }) => list.revoked.some((each) => serialText(each.serial) === text));
  }).length;
}
