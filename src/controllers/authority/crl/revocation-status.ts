// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '../../../api/object/time.ts';
import { findCondition, setCondition } from '../../../api/request/conditions.ts';
import {
  LISTED,
  type Revocation,
  type RevocationStatus,
} from '../../../api/revocation/revocation.ts';
import type { CertificateList } from '../../../pki/x509/certificate-list.ts';
import { canonicalSerial, serialText } from '../../../revocation/serial.ts';

/** A CRL that is published, and whose it is. */
export interface PublishedList {
  readonly fingerprint: string;
  readonly list: CertificateList;
}

/**
 * What to write of a Revocation now that these CRLs are published.
 *
 * @param now - milliseconds
 * @returns undefined where its status says so already
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
      ? { status: 'True', reason: 'Listed', message: 'every certificate is on the CRL of its CA' }
      : {
          status: 'False',
          reason: 'AuthorityUnknown',
          message: `${missing} of the certificates are of a CA whose key this ClusterSigner does not have: no CRL lists them`,
        }),
  });
  return { ...status, conditions, ...(missing === 0 ? { crlNumber: number } : {}) };
}

/** How many of its certificates no CRL has, though they live. */
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
