// SPDX-License-Identifier: Apache-2.0
/** Compares the usages of a leaf with the requested ones. */
import { UNUSABLE_BITS, usageBits } from '#pki/extensions/usages.ts';
import { unless } from '../case.ts';
import type { IssuedLeaf } from '../issued-leaf.ts';
import type { LeafAssertion } from '../snapshot.ts';

interface Usages {
  readonly has: ReadonlySet<string>;
  readonly requested: ReadonlySet<string>;
}

/** Returns names of keyUsage bits and OIDs of purposes, of the leaf and the request. */
function usagesOf({ leaf, request }: IssuedLeaf): Usages {
  const { keyUsage, extKeyUsage } = usageBits(request.requested.usages);
  return {
    has: new Set<string>([...(leaf.keyUsage ?? []), ...(leaf.extKeyUsage ?? [])]),
    requested: new Set<string>([...keyUsage, ...extKeyUsage]),
  };
}

/** Passes when `spec.usages` contains every keyUsage bit and extKeyUsage purpose of the leaf. */
export const hasOnlyRequestedUsages: LeafAssertion = (issued) => {
  const { has, requested } = usagesOf(issued);
  const more = [...has].filter((usage) => !requested.has(usage));
  return unless(
    more.length === 0 ? undefined : `not requested: ${more.join(', ')}`,
    [...has].join(', '),
  );
};

/**
 * Passes when the leaf has every keyUsage bit and extKeyUsage purpose of `spec.usages`, except bits
 * that its key must not have (RFC 8813 §3, RFC 8410 §5).
 */
export const hasAllRequestedUsages: LeafAssertion = (issued) => {
  const { has, requested } = usagesOf(issued);
  const unusable = new Set<string>(UNUSABLE_BITS[issued.leaf.publicKey.algorithm]);
  const missing = [...requested].filter((usage) => !has.has(usage) && !unusable.has(usage));
  return unless(
    missing.length === 0 ? undefined : `requested but missing: ${missing.join(', ')}`,
    [...has].join(', '),
  );
};
