// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  bundleName,
  servedSince,
  type ClusterTrustBundle,
} from '#api/object/cluster-trust-bundle.ts';
import { parseTime } from '#api/object/time.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import {
  anchorFingerprints,
  publishedAnchors,
  readAnchors,
  withoutAnchors,
  writeAnchors,
} from '#pki/x509/trust-bundle.ts';
import { signingAnchors } from '#ca/rotation/signing-anchors.ts';
import { distrustedAnchors, distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import {
  retainedAnchors,
  type PublishedBundle,
  type RetainedAnchor,
} from '#ca/rotation/retained-anchors.ts';
import { bundleAnnotations } from './bundle-annotations.ts';

const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'countersign' } as const;

/** The metadata of a new bundle before the API server fills in the rest. */
const UNBORN = { uid: '', resourceVersion: '', creationTimestamp: '' } as const;

export interface DesiredBundle {
  readonly bundle: ClusterTrustBundle;
  /** Time at which an inherited anchor is removed. */
  readonly changesAt: number | undefined;
}

/** The recently deleted bundle, whose anchors kubelets still have. */
export interface LostBundle {
  readonly lost: ClusterTrustBundle | undefined;
}

/**
 * Returns the bundle with the anchors of the ClusterSigner's CAs and the inherited ones, without
 * distrusted ones. It has CA certificates only, no duplicates, in a stable order. Returns undefined
 * while there is no anchor.
 */
export function desiredBundle(input: PublishedBundle & LostBundle): DesiredBundle | undefined {
  const { signer, bundle } = input;
  const { signerName, trustBundle } = signer.spec;
  const named = namedAnchors(signer);
  if (trustBundle === undefined || isUnknown(signer, named)) return undefined;
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
    spec: { signerName, trustBundle: writeAnchors(anchors, signingAnchors(signer.status)) },
  };
  return { bundle: desired, changesAt: firstEnd(inherited) };
}

/** Reports whether authority has not inspected the ClusterSigner yet. */
function isUnknown({ status }: ClusterSigner, named: readonly Certificate[]): boolean {
  return named.length === 0 && status?.retainedAnchors === undefined;
}

function namedAnchors({ status }: ClusterSigner): readonly Certificate[] {
  const authorities = status?.authorities ?? [];
  return readAnchors(authorities.map((each) => each.anchors ?? '').join('\n'));
}

function firstEnd(inherited: readonly RetainedAnchor[]): number | undefined {
  const ends = inherited.map(({ until }) => until);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Reports whether text, labels and annotations are the same. */
export function isSameBundle(served: ClusterTrustBundle, desired: ClusterTrustBundle): boolean {
  return (
    served.spec.trustBundle === desired.spec.trustBundle &&
    sameMap(served.metadata.labels, desired.metadata.labels) &&
    sameMap(served.metadata.annotations, desired.metadata.annotations)
  );
}

/**
 * Returns the bundle's text without the anchors that this signer distrusts, or '' if none is left.
 */
export function trustedText({ spec }: ClusterTrustBundle, signer: ClusterSigner): string {
  return withoutAnchors(spec.trustBundle, distrustedAnchors(spec.trustBundle, signer));
}

/** Maximum time that the publisher may be away after a regular removal of an anchor. */
const REMOVAL_GRACE_MS = 3_600_000;

/**
 * Returns anchors in the served bundle that another client added: not the signer's, not retained,
 * and neither distrusted nor recently retired. The bundle's own statements count only until
 * authority has inspected it once.
 */
export function strangersIn(
  served: ClusterTrustBundle,
  desired: ClusterTrustBundle,
  { signer, now }: Pick<PublishedBundle, 'signer' | 'now'>,
): readonly string[] {
  const isDistrusted = distrustedCas(signer);
  const wanted = anchorFingerprints(desired.spec.trustBundle);
  const removed = new Set(
    (signer.status?.formerAnchors ?? [])
      .filter(({ removedAt }) => now < parseTime(removedAt) + REMOVAL_GRACE_MS)
      .map((each) => each.fingerprint),
  );
  const since = signer.status?.retainedAnchors === undefined ? servedSince(served) : new Map();
  return [...publishedAnchors(served.spec.trustBundle).keys()].filter(
    (each) => !wanted.has(each) && !isDistrusted(each) && !removed.has(each) && !since.has(each),
  );
}

/** Reports whether the text contains no readable anchor. */
export function isUnreadable(served: ClusterTrustBundle): boolean {
  return anchorFingerprints(served.spec.trustBundle).size === 0;
}

function sameMap(
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
