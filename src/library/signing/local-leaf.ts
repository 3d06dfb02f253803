// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '../../pki/x509/certificate.ts';
import type { CertificateTemplate } from '../../runtime/issuing/issuing-ca.ts';
import type { Signed } from '../request.ts';

/**
 * The answer of `openCa`. It is frozen, and a copy of it has no `#leaf`, so it cannot be forged. A WeakMap
 * would do the same and costs as much an entry as parsing a name.
 */
class LocallySigned implements Signed {
  readonly chain: string;
  readonly anchors: string;
  readonly #leaf: Certificate;
  readonly #wanted: CertificateTemplate;

  constructor(signed: Required<Signed>, leaf: Certificate, wanted: CertificateTemplate) {
    this.chain = signed.chain;
    this.anchors = signed.anchors;
    this.#leaf = leaf;
    this.#wanted = wanted;
    Object.freeze(this);
  }

  static leafFor(signed: Signed, wanted: CertificateTemplate): Certificate | undefined {
    return #leaf in signed && signed.#wanted === wanted ? signed.#leaf : undefined;
  }
}

/** An answer that carries its leaf, parsed before it was signed, and the request it was prepared for. */
export function attachLeaf(
  signed: Required<Signed>,
  leaf: Certificate,
  wanted: CertificateTemplate,
): Signed {
  return new LocallySigned(signed, leaf, wanted);
}

/** The leaf of an answer that {@link attachLeaf} made for this request; undefined for any other answer. */
export function attachedLeaf(signed: Signed, wanted: CertificateTemplate): Certificate | undefined {
  return LocallySigned.leafFor(signed, wanted);
}
