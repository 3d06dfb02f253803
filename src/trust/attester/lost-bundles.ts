// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import type { Monotonic } from '#base/ports.ts';

/** Tracks bundles that another client deleted. */
export interface LostBundles {
  /** Records that the watch shows a deletion. */
  readonly gone: (bundle: ClusterTrustBundle) => void;
  /** Records that this process deletes the bundle, or has deleted it. */
  readonly ours: (uid: string) => void;
  /** Returns the bundle of this name if another client deleted it within the last minute. */
  readonly of: (name: string) => ClusterTrustBundle | undefined;
}

/**
 * For this long a kubelet still has the anchors: it reads mounted bundles once a minute
 * (syncFrequency) and keeps the files of a missing bundle.
 */
const GONE_MS = 60_000;
/** Far exceeds the number of bundles that an installation publishes. */
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
