// SPDX-License-Identifier: Apache-2.0
import {
  SERVED_SINCE,
  timesOf,
  type ClusterTrustBundle,
} from '../../../api/object/cluster-trust-bundle.ts';
import type { ConfigMap } from '../../../api/object/object.ts';
import { FILLED_BY } from '../../../api/signer/own-tls.ts';
import { formatTime } from '../../../api/object/time.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { anchorFingerprints, withoutAnchors } from '../../../pki/x509/trust-bundle.ts';
import type { IsDistrusted } from '../../../rotation/distrusted-cas.ts';
import type { Served } from '../../../runtime/ca/anchor-gate.ts';

export type ConfigMapLook =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly configMap: ConfigMap };

export interface BundleSnapshot {
  readonly name: string;
  readonly configMap: ConfigMapLook;
  readonly signerName: string;
  /** As the attester publishes it. */
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
 * What the clients of our ports read: the anchors of the published bundle, and since when each is in the
 * ConfigMap. Synchronous and total.
 */
export function decideBundle(snapshot: BundleSnapshot): BundlePlan {
  const { name, configMap: look, signerName } = snapshot;
  if (look.kind === 'unknown') return { kind: 'keep' };
  if (look.kind === 'missing') {
    return wait(
      `ConfigMap ${name} does not exist; apply deploy/own-tls.yaml, which creates it empty`,
    );
  }
  const { configMap } = look;
  if (!isFilledFor(configMap, signerName)) {
    return wait(
      `ConfigMap ${name} may not be filled in by Countersign; its owner allows that with the annotation ${FILLED_BY}: ${signerName}`,
    );
  }
  if (configMap.immutable === true)
    return wait(`ConfigMap ${name} is immutable; recreate it without immutable`);
  return fill(snapshot, configMap);
}

/** While no bundle is published, only distrusted anchors are removed. */
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

/** An anchor that was edited out and put back was absent for a while, so its time counts from now. */
function sinceText(configMap: ConfigMap, anchors: string, now: number): string {
  const { published, servedSince } = servedByConfigMap(configMap);
  const entries = [...anchorFingerprints(anchors)].sort().map((anchor) => {
    const before = published?.has(anchor) === true ? servedSince.get(anchor) : undefined;
    return [anchor, formatTime(Math.min(before ?? now, now))];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

export function servedByConfigMap({ data, metadata }: ConfigMap): Served {
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
