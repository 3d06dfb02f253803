// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '../pki/certificate.ts';
import type { Wanted } from '../serving/issuing.ts';
import type { Signed } from './request.ts';

interface Own {
  readonly leaf: Certificate;
  readonly wanted: Wanted;
}

/** What `openCa` made: nobody can change it any more, nor make one that looks like it. */
const leaves = new WeakMap<Signed, Own>();

/** Remembers the leaf of an answer of our own, and what it was prepared for. */
export function withLeaf(signed: Signed, leaf: Certificate, wanted: Wanted): Signed {
  const own = Object.freeze(signed);
  leaves.set(own, { leaf, wanted });
  return own;
}

/** The leaf of an answer, where that is one of our own as we gave it, and for this very request. */
export function preparedLeaf(signed: Signed, wanted: Wanted): Certificate | undefined {
  const own = leaves.get(signed);
  return own?.wanted === wanted ? own.leaf : undefined;
}
