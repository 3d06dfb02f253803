// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import type { CaChain, PreparedCertificate } from './prepare.ts';

/** A leaf that an authority signed, and the chain of the CA that signed it. */
export interface SignedLeaf extends CaChain {
  readonly leaf: Certificate;
}

/**
 * Verifies that the signed certificate is the prepared one, byte for byte, and that it chains to an
 * anchor. Callers do this before they write a status, because neither the API server nor the
 * kubelet verifies the signatures of a chain. It costs one verification. The CA's own chain was
 * verified when it was opened.
 *
 * @param now - milliseconds since the epoch, by the API server's clock
 *
 * @throws SignerError CORRESPONDENCE (`authority`) or PATH_INVALID
 */
export function correspond(prepared: PreparedCertificate, signed: SignedLeaf, now: number): void {
  if (!prepared.equals(signed.leaf.tbs)) {
    throw new SignerError({
      code: 'CORRESPONDENCE',
      disposition: 'authority',
      message: 'the CA returned a certificate that is not the prepared one; it was discarded',
    });
  }
  const { leaf, certificate: issuer, intermediates, anchors } = signed;
  verifyPath({ leaf, issuer, intermediates, anchors, now });
}
