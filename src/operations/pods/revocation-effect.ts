// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { LISTED } from '#api/revocation/names.ts';
import type { Revocation } from '#api/revocation/revocation.ts';

/** Returns whether verifiers reject a revoked certificate: they do once a CRL lists it. */
export function revocationEffect({ status }: Revocation): string {
  const listed = findCondition(status?.conditions, LISTED);
  if (listed?.status !== 'True')
    return 'its condition Listed is not True, and verifiers accept it until a CRL lists it';
  const list = status?.crlNumber === undefined ? 'a CRL' : `CRL ${status.crlNumber}`;
  return `${list} lists it, and verifiers that check CRLs reject it once they have that CRL`;
}
