// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import { verifyPath } from '../pki/x509/path.ts';
import type { Prepared } from './prepare.ts';

export interface SignedLeaf {
  readonly leaf: Certificate;
  /** From the issuer of the leaf upwards, without the root. */
  readonly intermediates: readonly Certificate[];
  readonly anchors: readonly Certificate[];
}

/**
 * What came back is what was prepared, and chains to an anchor: checked before anything is written,
 * because neither API server nor kubelet checks a chain's signatures.
 *
 * @throws SignerError CORRESPONDENCE (`authority`) or PATH_INVALID
 */
export function correspond(prepared: Prepared, signed: SignedLeaf, now: number): void {
  if (!prepared.equals(signed.leaf.tbs)) {
    throw new SignerError({
      code: 'CORRESPONDENCE',
      disposition: 'authority',
      message: 'the certificate that the CA returned is not the one that was prepared',
    });
  }
  verifyPath({
    leaf: signed.leaf,
    intermediates: signed.intermediates,
    anchors: signed.anchors,
    now,
  });
}
