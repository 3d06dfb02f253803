// SPDX-License-Identifier: Apache-2.0
/** What a leaf may be used for, against what was asked for. */
import { usageBits } from '../../pki/extensions/usages.ts';
import { unless } from '../case.ts';
import type { Issued } from '../issued-leaf.ts';
import type { LeafLaw } from '../snapshot.ts';

interface Usages {
  readonly has: ReadonlySet<string>;
  readonly asked: ReadonlySet<string>;
}

/** Names of keyUsage bits and OIDs of purposes, on both sides. */
function usagesOf({ leaf, trial }: Issued): Usages {
  const { keyUsage, extKeyUsage } = usageBits(trial.asked.usages);
  return {
    has: new Set<string>([...(leaf.keyUsage ?? []), ...(leaf.extKeyUsage ?? [])]),
    asked: new Set<string>([...keyUsage, ...extKeyUsage]),
  };
}

export const hasNoMoreUsages: LeafLaw = (issued) => {
  const { has, asked } = usagesOf(issued);
  const more = [...has].filter((usage) => !asked.has(usage));
  return unless(
    more.length === 0 ? undefined : `not asked for: ${more.join(', ')}`,
    [...has].join(', '),
  );
};

export const hasAskedUsages: LeafLaw = (issued) => {
  const { has, asked } = usagesOf(issued);
  const missing = [...asked].filter((usage) => !has.has(usage));
  return unless(
    missing.length === 0 ? undefined : `asked for and left out: ${missing.join(', ')}`,
    [...has].join(', '),
  );
};
