// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { LISTED } from '#api/revocation/names.ts';
import type { Revocation } from '#api/revocation/revocation.ts';

/** Returns who rejects a certificate of a Revocation: that depends on the CRL that lists it. */
export function revocationEffect({ status }: Revocation): string {
  const listed = findCondition(status?.conditions, LISTED);
  if (listed?.status !== 'True') return 'no CRL is known to list it, and verifiers accept it';
  const list = status?.crlNumber === undefined ? 'a CRL' : `CRL ${status.crlNumber}`;
  return `${list} lists it, and verifiers that check CRLs reject it once they have that CRL`;
}
