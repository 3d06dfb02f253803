// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '#pki/x509/certificate.ts';
import type { CertificateTemplate } from '#requests/issuing/issuing-ca.ts';
import type { SignedCertificate } from '../request.ts';

/**
 * The answer of `openCa`. It is frozen, and a copy of it has no `#leaf`, so it cannot be forged. A
 * WeakMap would do the same, but each entry costs as much as parsing a name.
 */
class LocallySigned implements SignedCertificate {
  readonly chain: string;
  readonly anchors: string;
  readonly #leaf: Certificate;
  readonly #wanted: CertificateTemplate;

  constructor(signed: Required<SignedCertificate>, leaf: Certificate, wanted: CertificateTemplate) {
    this.chain = signed.chain;
    this.anchors = signed.anchors;
    this.#leaf = leaf;
    this.#wanted = wanted;
    Object.freeze(this);
  }

  static leafFor(signed: SignedCertificate, wanted: CertificateTemplate): Certificate | undefined {
    return #leaf in signed && signed.#wanted === wanted ? signed.#leaf : undefined;
  }
}

/** Returns an answer with its leaf, parsed before it was signed, and its request. */
export function attachLeaf(
  signed: Required<SignedCertificate>,
  leaf: Certificate,
  wanted: CertificateTemplate,
): SignedCertificate {
  return new LocallySigned(signed, leaf, wanted);
}

/** Returns the leaf of an answer that {@link attachLeaf} created for this request, or undefined. */
export function attachedLeaf(
  signed: SignedCertificate,
  wanted: CertificateTemplate,
): Certificate | undefined {
  return LocallySigned.leafFor(signed, wanted);
}
