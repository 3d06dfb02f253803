// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { RETAIN_UNTIL, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import {
  desiredBundle,
  isSameBundle,
  isUnreadable,
  strangersIn,
  trustedText,
} from './desired-bundle.ts';
import { isManaged } from '#api/signer/bundle-annotations.ts';
import { lastLeafEnd } from '#ca/rotation/last-leaf-end.ts';

/** Inputs for one bundle name: the bundle as served, and the ClusterSigner that publishes it. */
export interface BundleNameSnapshot {
  readonly name: string;
  /** The bundle as served, if there is one. */
  readonly bundle: ClusterTrustBundle | undefined;
  /** The bundle that another client deleted within the last minute. */
  readonly lost: ClusterTrustBundle | undefined;
  /** The serving ClusterSigner whose spec.trustBundle makes this name, if there is one. */
  readonly signer: ClusterSigner | undefined;
  /** The ClusterSigner that serves the bundle's signer name. It may publish a different bundle. */
  readonly serving: ClusterSigner | undefined;
  /** True if the publishing ClusterSigner exists but this version cannot read it. */
  readonly unreadable: boolean;
  /** True if the name belongs to this installation: a served one, or one that our role lists. */
  readonly isListed: boolean;
  readonly secretNamespace: string;
  readonly now: number;
  /** Our clock contradicts the API server's, so trust ends by neither. */
  readonly clocksApart: boolean;
}

export type BundleChange =
  | { readonly kind: 'ignore'; readonly requeueAt?: number }
  | {
      readonly kind: 'create';
      readonly bundle: ClusterTrustBundle;
      /** True if another client had deleted the bundle. */
      readonly repaired: boolean;
    }
  | {
      readonly kind: 'update';
      readonly bundle: ClusterTrustBundle;
      /** True if another client had changed the bundle. */
      readonly repaired: boolean;
      /** Fingerprints of the anchors that another client added. The update removes them. */
      readonly strangers: readonly string[];
      readonly requeueAt?: number;
    }
  | { readonly kind: 'delete'; readonly bundle: ClusterTrustBundle };

/** Decides one ClusterTrustBundle. Synchronous and total. */
export function decide(snapshot: BundleNameSnapshot): BundleChange {
  const { bundle, signer } = snapshot;
  if (signer !== undefined) return publish(snapshot, signer);
  if (bundle === undefined || !snapshot.isListed) return { kind: 'ignore' };
  if (!isManaged(bundle, snapshot.secretNamespace)) return { kind: 'ignore' };
  // Another version that can read the ClusterSigner may still sign, so change nothing.
  if (snapshot.unreadable) return { kind: 'ignore' };
  // Pods may still mount the bundle, by its name or merged with others of its signer.
  const distrust = snapshot.serving && withoutDistrusted(bundle, snapshot.serving);
  return distrust ?? retire(bundle, snapshot);
}

function publish(snapshot: BundleNameSnapshot, signer: ClusterSigner): BundleChange {
  const { bundle, now } = snapshot;
  const desired = desiredBundle({ ...snapshot, signer });
  if (desired === undefined) return withdraw(snapshot, signer);
  if (bundle === undefined) {
    return { kind: 'create', bundle: desired.bundle, repaired: snapshot.lost !== undefined };
  }
  const { changesAt } = desired;
  const again = changesAt === undefined || changesAt <= now ? {} : { requeueAt: changesAt };
  if (isSameBundle(bundle, desired.bundle)) return { kind: 'ignore', ...again };
  const strangers = strangersIn(bundle, desired.bundle, { signer, now });
  const repaired = strangers.length > 0 || isUnreadable(bundle);
  return { kind: 'update', bundle: desired.bundle, repaired, strangers, ...again };
}

/**
 * Keeps the served anchors, except distrusted ones, while the signer has no anchor to publish. A
 * bundle cannot be empty, and pods that wait for the next CA are the smaller harm.
 */
function withdraw(
  { bundle, secretNamespace }: BundleNameSnapshot,
  signer: ClusterSigner,
): BundleChange {
  if (bundle === undefined || !isManaged(bundle, secretNamespace)) return { kind: 'ignore' };
  return withoutDistrusted(bundle, signer) ?? { kind: 'ignore' };
}

/**
 * Removes distrusted anchors from a bundle that is not published now. Returns undefined if there
 * are none.
 */
function withoutDistrusted(
  bundle: ClusterTrustBundle,
  signer: ClusterSigner,
): BundleChange | undefined {
  const trusted = trustedText(bundle, signer);
  if (trusted === bundle.spec.trustBundle) return undefined;
  if (trusted === '') return { kind: 'delete', bundle };
  const spec = { ...bundle.spec, trustBundle: trusted };
  return { kind: 'update', repaired: false, strangers: [], bundle: { ...bundle, spec } };
}

/**
 * Keeps a bundle that no ClusterSigner publishes any more until the longest possible leaf has
 * expired. An earlier deletion would cut trust under valid leaves and block pods that mount it.
 */
function retire(
  bundle: ClusterTrustBundle,
  { clocksApart, now }: Pick<BundleNameSnapshot, 'clocksApart' | 'now'>,
): BundleChange {
  const annotations = bundle.metadata.annotations ?? {};
  const until = parseTime(annotations[RETAIN_UNTIL] ?? '');
  const latest = clocksApart ? undefined : lastLeafEnd(bundle, now);
  // A later time than today's is not ours, so another client wrote it.
  const isForged = latest !== undefined && until > latest + 1000;
  if (Number.isNaN(until) || isForged) {
    const retainUntil = latest;
    if (retainUntil === undefined) return { kind: 'ignore' };
    const marked = { ...annotations, [RETAIN_UNTIL]: formatTime(retainUntil + 999) };
    return {
      kind: 'update',
      repaired: false,
      strangers: [],
      requeueAt: retainUntil + 1000,
      bundle: { ...bundle, metadata: { ...bundle.metadata, annotations: marked } },
    };
  }
  if (now < until) return { kind: 'ignore', requeueAt: until };
  return clocksApart ? { kind: 'ignore' } : { kind: 'delete', bundle };
}
