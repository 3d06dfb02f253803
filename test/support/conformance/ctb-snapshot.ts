// SPDX-License-Identifier: Apache-2.0
import {
  CTB_CALLS,
  MOUNTS,
  INVALID_BUNDLES,
  type CtbSnapshot,
  type ObservedBundle,
} from '#conformance/ctb/snapshot.ts';
import { DEFAULT_PROFILE } from '#conformance/profile.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { NOW, ROOT } from './leaf.ts';
import { issued } from './observed-requests.ts';

const NAME = 'example.com:x:primary';

export function bundle(pem: string, more: Partial<ObservedBundle> = {}): ObservedBundle {
  return { name: NAME, signerName: 'example.com/x', pem, writes: 0, ...more };
}

/** What the runner sees of a signer that does everything right. */
export function goodCtbSnapshot(more: Partial<CtbSnapshot> = {}): CtbSnapshot {
  return {
    signerName: 'example.com/x',
    profile: DEFAULT_PROFILE,
    bundles: [bundle(ROOT.pem)],
    listedNames: [NAME],
    leaf: issued(),
    unrelatedBundles: { foreign: { writes: 0 }, unlinked: { writes: 0 } },
    invalidBundles: allSeen(INVALID_BUNDLES),
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
