// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import {
  bundleName,
  servedSince,
  type ClusterTrustBundle,
} from '../../api/object/cluster-trust-bundle.ts';
import { fingerprint, type Certificate } from '../../pki/x509/certificate.ts';
import { anchorFingerprints, readAnchors, writeAnchors } from '../../pki/x509/trust-bundle.ts';
import { bundleAnnotations, type BundleInput } from './bundle-annotations.ts';
import { retainedAnchors, type RetainedAnchor } from './retained-anchors.ts';
import { distrustedCas } from '../../rotation/distrusted-cas.ts';

const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'countersign' } as const;

/** What a new bundle has of metadata before the API server fills in the rest. */
const UNBORN = { uid: '', resourceVersion: '', creationTimestamp: '' } as const;

export interface DesiredBundle {
  readonly bundle: ClusterTrustBundle;
  /** When an inherited anchor goes. */
  readonly changesAt: number | undefined;
}

/**
 * The bundle that the ClusterSigner's authorities make, with what it inherits and without what is
 * distrusted, or undefined while there is no anchor: CA certificates only, no duplicates, stable
 * order.
 */
export function desiredBundle(input: BundleInput): DesiredBundle | undefined {
  const { signer, bundle } = input;
  const { signerName, trustBundle } = signer.spec;
  const named = namedAnchors(signer);
  if (trustBundle === undefined || named.length === 0) return undefined;
  const inherited = retainedAnchors(input, new Set(named.map(({ raw }) => fingerprint(raw))));
  const isOut = distrustedCas(signer);
  const own = named.filter(({ raw }) => !isOut(fingerprint(raw)));
  const anchors = [...own, ...inherited.map(({ anchor }) => anchor)];
  if (anchors.length === 0) return undefined;
  const annotations = bundleAnnotations({
    ...input,
    anchors: anchors.map((anchor) => fingerprint(anchor.raw)),
    inherited: new Map(inherited.map((each) => [each.fingerprint, each.until])),
  });
  const desired = {
    apiVersion: bundle?.apiVersion ?? '',
    kind: 'ClusterTrustBundle',
    metadata: {
      ...(bundle?.metadata ?? UNBORN),
      name: bundleName(signerName, trustBundle.name),
      labels: { ...bundle?.metadata.labels, ...trustBundle.labels, ...MANAGED_BY },
      annotations,
    },
    spec: { signerName, trustBundle: writeAnchors(anchors) },
  };
  return { bundle: desired, changesAt: firstEnd(inherited) };
}

function namedAnchors({ status }: ClusterSigner): readonly Certificate[] {
  const authorities = status?.authorities ?? [];
  return readAnchors(authorities.map((each) => each.anchors).join('\n'));
}

function firstEnd(inherited: readonly RetainedAnchor[]): number | undefined {
  const ends = inherited.map(({ until }) => until);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Nothing to write: same text, same labels, same annotations. */
export function isSameBundle(served: ClusterTrustBundle, desired: ClusterTrustBundle): boolean {
  return (
    served.spec.trustBundle === desired.spec.trustBundle &&
    sameMap(served.metadata.labels, desired.metadata.labels) &&
    sameMap(served.metadata.annotations, desired.metadata.annotations)
  );
}

/** Its anchors are known, and each of them is distrusted. */
export function isAllDistrusted(signer: ClusterSigner): boolean {
  const named = namedAnchors(signer);
  const isOut = distrustedCas(signer);
  return named.length > 0 && named.every(({ raw }) => isOut(fingerprint(raw)));
}

/** It serves an anchor of whose publication we know nothing: somebody else wrote it. */
export function isEditedByOthers(served: ClusterTrustBundle): boolean {
  const since = servedSince(served);
  const anchors = [...anchorFingerprints(served.spec.trustBundle)];
  return anchors.length === 0 || anchors.some((anchor) => !since.has(anchor));
}

function sameMap(
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
