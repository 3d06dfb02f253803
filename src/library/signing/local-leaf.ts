// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '../../pki/x509/certificate.ts';
import type { LeafTemplate } from '../../runtime/issuing/issuing-ca.ts';
import type { Signed } from '../request.ts';

/**
 * What `openCa` made. Nobody can change it any more, nor make one that looks like it: a copy has no
 * `#leaf`. Without a WeakMap, whose every entry costs as much as reading a name.
 */
class LocallySigned implements Signed {
  readonly chain: string;
  readonly anchors: string;
  readonly #leaf: Certificate;
  readonly #wanted: LeafTemplate;

  constructor(signed: Required<Signed>, leaf: Certificate, wanted: LeafTemplate) {
    this.chain = signed.chain;
    this.anchors = signed.anchors;
    this.#leaf = leaf;
    this.#wanted = wanted;
    Object.freeze(this);
  }

  static leafFor(signed: Signed, wanted: LeafTemplate): Certificate | undefined {
    return #leaf in signed && signed.#wanted === wanted ? signed.#leaf : undefined;
  }
}

/** An answer of our own that remembers its leaf, read before it was signed, and what that was prepared for. */
export function attachLeaf(
  signed: Required<Signed>,
  leaf: Certificate,
  wanted: LeafTemplate,
): Signed {
  return new LocallySigned(signed, leaf, wanted);
}

/** The leaf of an answer, where that is one of our own as we gave it, and for this very request. */
export function attachedLeaf(signed: Signed, wanted: LeafTemplate): Certificate | undefined {
  return LocallySigned.leafFor(signed, wanted);
}
