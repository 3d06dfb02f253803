// SPDX-License-Identifier: Apache-2.0
import {
  CTB_CALLS,
  MOUNTS,
  REFUSALS,
  type CtbWorld,
  type SeenBundle,
} from '../../../src/conformance/ctb/snapshot.ts';
import { DEFAULT_PROFILE } from '../../../src/conformance/profile.ts';
import type { Operation } from '../../../src/conformance/snapshot.ts';
import { NOW, ROOT } from './leaf.ts';
import { issued } from './observed-requests.ts';

const NAME = 'example.com:x:primary';

export function bundle(pem: string, more: Partial<SeenBundle> = {}): SeenBundle {
  return { name: NAME, signerName: 'example.com/x', pem, writes: 0, ...more };
}

/** What the kit sees of a signer that does everything right. */
export function goodCtbWorld(more: Partial<CtbWorld> = {}): CtbWorld {
  return {
    signerName: 'example.com/x',
    profile: DEFAULT_PROFILE,
    bundles: [bundle(ROOT.pem)],
    bundlesOfAll: [NAME],
    leaf: issued(),
    neighbours: { foreign: { writes: 0 }, unlinked: { writes: 0 } },
    refusals: allSeen(REFUSALS),
    calls: allSeen(CTB_CALLS),
    mounts: allSeen(MOUNTS),
    now: NOW,
    ...more,
  };
}

function allSeen<O extends string>(names: readonly O[]): Readonly<Record<O, Operation>> {
  return Object.fromEntries(names.map((name) => [name, { seen: 'as it must be' }])) as Readonly<
    Record<O, Operation>
  >;
}
