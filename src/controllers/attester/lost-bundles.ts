// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { BoundedMap } from '../../bounded-map.ts';
import type { Monotonic } from '../../ports.ts';

/** Bundles that another client has deleted. */
export interface LostBundles {
  /** The watch shows that it is gone. */
  readonly gone: (bundle: ClusterTrustBundle) => void;
  /** We are about to delete it, or have done so. */
  readonly ours: (uid: string) => void;
  /** The bundle of this name, if another client deleted it a moment ago. */
  readonly of: (name: string) => ClusterTrustBundle | undefined;
}

/**
 * For so long a kubelet that had an anchor still has it: it reads a mounted bundle again once a minute
 * (syncFrequency), and keeps the files while the bundle is missing.
 */
const GONE_MS = 60_000;
/** Far more bundles than an installation publishes. */
const MAX_LOST = 1_000;

export function createLostBundles(monotonic: Monotonic): LostBundles {
  const lost = new BoundedMap<string, { bundle: ClusterTrustBundle; at: number }>(MAX_LOST);
  const own = new BoundedMap<string, true>(MAX_LOST);
  return {
    gone: (bundle) => {
      lost.set(bundle.metadata.name, { bundle, at: monotonic() });
    },
    ours: (uid) => {
      own.set(uid, true);
    },
    of: (name) => {
      const found = lost.get(name);
      if (found === undefined || monotonic() - found.at >= GONE_MS) return undefined;
      return own.get(found.bundle.metadata.uid) === true ? undefined : found.bundle;
    },
  };
}
