// SPDX-License-Identifier: Apache-2.0
import {
  SERVED_SINCE,
  timesOf,
  type ClusterTrustBundle,
} from '#api/object/cluster-trust-bundle.ts';
import type { ConfigMap } from '#api/object/object.ts';
import { FILLED_BY } from '#api/signer/own-tls.ts';
import { formatTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { anchorFingerprints, withoutAnchors } from '#pki/x509/trust-bundle.ts';
import type { IsDistrusted } from '#ca/rotation/distrusted-cas.ts';
import type { ServedAnchors } from '#requests/ca/anchor-gate.ts';
import * as messages from '../messages.ts';

export type ConfigMapLook =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly configMap: ConfigMap };

export interface BundleSnapshot {
  readonly name: string;
  readonly configMap: ConfigMapLook;
  readonly signerName: string;
  /** The bundle as the attester publishes it. */
  readonly bundle: ClusterTrustBundle | undefined;
  readonly isDistrusted: IsDistrusted;
  readonly now: number;
}

export type BundlePlan =
  | { readonly kind: 'keep' }
  | {
      readonly kind: 'write';
      readonly configMap: ConfigMap;
      readonly anchors: string;
      readonly servedSince: string;
    }
  | { readonly kind: 'wait'; readonly why: string };

export const ANCHORS_KEY = 'ca.crt';

/**
 * Decides what clients of our ports read: the anchors of the published bundle, and since when each
 * is in the ConfigMap. Synchronous and total.
 */
export function decideBundle(snapshot: BundleSnapshot): BundlePlan {
  const { name, configMap: look, signerName } = snapshot;
  if (look.kind === 'unknown') return { kind: 'keep' };
  if (look.kind === 'missing') {
    return wait(messages.configMapMissing(name));
  }
  const { configMap } = look;
  if (!isFilledFor(configMap, signerName)) {
    return wait(messages.configMapNotGranted(name, signerName));
  }
  if (configMap.immutable === true) return wait(messages.configMapImmutable(name));
  return fill(snapshot, configMap);
}

/** Removes only distrusted anchors while no bundle is published. */
function fill({ bundle, isDistrusted, now }: BundleSnapshot, configMap: ConfigMap): BundlePlan {
  const written = configMap.data?.[ANCHORS_KEY];
  const published = bundle?.spec.trustBundle ?? written ?? '';
  // The bundle may be missing because none of it is trusted, or may lag behind the distrust.
  const anchors = withoutAnchors(published, isDistrusted);
  if (bundle === undefined && anchors === published) return { kind: 'keep' };
  const servedSince = sinceText(configMap, anchors, now);
  const isSame =
    written === anchors && configMap.metadata.annotations?.[SERVED_SINCE] === servedSince;
  return isSame ? { kind: 'keep' } : { kind: 'write', configMap, anchors, servedSince };
}

/** Returns the served-since times. An anchor that was removed and put back counts from now. */
function sinceText(configMap: ConfigMap, anchors: string, now: number): string {
  const { published, servedSince } = servedByConfigMap(configMap);
  const entries = [...anchorFingerprints(anchors)].sort().map((anchor) => {
    const before = published?.has(anchor) === true ? servedSince.get(anchor) : undefined;
    return [anchor, formatTime(Math.min(before ?? now, now))];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

export function servedByConfigMap({ data, metadata }: ConfigMap): ServedAnchors {
  const published = attempt(() => anchorFingerprints(data?.[ANCHORS_KEY] ?? ''));
  return {
    published: published instanceof SignerError ? undefined : published,
    servedSince: timesOf(metadata.annotations?.[SERVED_SINCE]),
  };
}

export function isFilledFor({ metadata }: ConfigMap, signerName: string): boolean {
  return metadata.annotations?.[FILLED_BY] === signerName;
}

function wait(why: string): BundlePlan {
  return { kind: 'wait', why };
}
