// SPDX-License-Identifier: Apache-2.0
import { servedSince, timesOf, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import type {
  ClusterSigner,
  ClusterSignerStatus,
  FormerAnchorStatus,
  RetainedAnchorStatus,
} from '#api/signer/cluster-signer.ts';
import { MAX_FORMER_ANCHORS, MAX_RETAINED_ANCHORS } from '#api/signer/cluster-signer-limits.ts';
import { CLUSTER_SIGNER_UID } from '#api/signer/grant.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import {
  anchorFingerprints,
  publishedAnchors,
  readAnchors,
  writeAnchors,
} from '#pki/x509/trust-bundle.ts';
import { INHERITED, isManaged } from '#api/signer/bundle-annotations.ts';
import { distrustedAnchors, distrustedCas } from './distrusted-cas.ts';
import { lastLeafEnd } from './last-leaf-end.ts';

/** A bundle, and its ClusterSigner. */
export interface PublishedBundle {
  readonly signer: ClusterSigner;
  /** The bundle as served, if there is one. */
  readonly bundle: ClusterTrustBundle | undefined;
  readonly secretNamespace: string;
  readonly now: number;
  /** True if the local clock contradicts the API server's. No trust then ends by time. */
  readonly clocksApart: boolean;
}

export interface RetainedAnchor {
  readonly anchor: Certificate;
  readonly fingerprint: string;
  /** The end in milliseconds. No leaf of the predecessor lives longer. */
  readonly until: number;
}

/**
 * Returns the anchors of an earlier ClusterSigner that are published besides the signer's own. They
 * come from the status, which only `authority` writes. Until it has read the bundle once, they come
 * from the bundle itself.
 *
 * @param own - fingerprints of the anchors that the ClusterSigner itself names
 */
export function retainedAnchors(
  published: PublishedBundle,
  own: ReadonlySet<string>,
): readonly RetainedAnchor[] {
  const { signer, clocksApart, now } = published;
  const recorded = signer.status?.retainedAnchors;
  if (recorded === undefined) return inheritedAnchors(published, own);
  const isDistrusted = distrustedCas(signer);
  return recorded
    .flatMap(({ anchor, until }) => {
      const read = attempt(() => readAnchors(anchor));
      const [certificate] = read instanceof SignerError ? [] : read;
      if (certificate === undefined) return [];
      const { raw } = certificate;
      return [{ anchor: certificate, fingerprint: fingerprint(raw), until: parseTime(until) }];
    })
    .filter((each) => !own.has(each.fingerprint) && !isDistrusted(each.fingerprint))
    .filter(({ until }) => clocksApart || until > now);
}

/**
 * Returns the anchors that the bundle records as those of an earlier ClusterSigner of its name. A
 * ClusterSigner that was deleted and created again, or that follows an older one, does not know the
 * previous CAs. Their leaves remain valid, and so does the trust in them.
 *
 * @param own - fingerprints of the anchors that the ClusterSigner itself names
 */
function inheritedAnchors(
  { signer, bundle, secretNamespace, clocksApart, now }: PublishedBundle,
  own: ReadonlySet<string>,
): readonly RetainedAnchor[] {
  if (bundle === undefined || !isManaged(bundle, secretNamespace)) return [];
  const { annotations } = bundle.metadata;
  const since = servedSince(bundle);
  const published = publishedAnchors(bundle.spec.trustBundle);
  const isOut = distrustedAnchors(bundle.spec.trustBundle, signer);
  const inherited = timesOf(annotations?.[INHERITED]);
  const publisher = annotations?.[CLUSTER_SIGNER_UID];
  const isNew = publisher !== undefined && publisher !== signer.metadata.uid;
  const longest = (lastLeafEnd(bundle, now) ?? now) + 1000;
  return [...published]
    .flatMap(([print, anchor]) => (anchor === undefined ? [] : { anchor, fingerprint: print }))
    .filter(({ fingerprint: print }) => !own.has(print) && since.has(print))
    .filter(({ fingerprint: print }) => isNew || inherited.has(print))
    .filter(({ fingerprint: print }) => !isOut(print))
    .map((each) => {
      const { notAfter } = each.anchor;
      const known = inherited.get(each.fingerprint);
      if (clocksApart) return { ...each, until: known ?? notAfter };
      // Another client may have written it. It must not last longer than the value of this program.
      return { ...each, until: Math.min(known ?? longest, longest, notAfter) };
    })
    .filter(({ until }) => clocksApart || until > now);
}

/**
 * Returns the new `status.retainedAnchors`. It is filled once, from the published bundle at the
 * first sight of the ClusterSigner. From then on it only shrinks.
 *
 * @param isBundleKnown - whether an absent bundle means that there is none
 * @returns undefined if it cannot be filled yet
 */
export function nextRetainedAnchors(
  published: PublishedBundle,
  isBundleKnown: boolean,
): readonly RetainedAnchorStatus[] | undefined {
  const { signer, clocksApart, now } = published;
  const recorded = signer.status?.retainedAnchors;
  if (signer.spec.trustBundle === undefined) return recorded;
  if (recorded === undefined) return isBundleKnown ? taken(published) : undefined;
  const isDistrusted = distrustedCas(signer);
  const kept = recorded.filter(
    (each) => !isDistrusted(each.fingerprint) && (clocksApart || now < parseTime(each.until)),
  );
  return kept.length === recorded.length ? recorded : kept;
}

/** Removes the CAs that the signer now has itself: each of them has an end of its own. */
export function withoutOwn(
  anchors: ClusterSignerStatus['retainedAnchors'],
  status: ClusterSignerStatus,
): ClusterSignerStatus['retainedAnchors'] {
  const own = ownAnchors({ status });
  return anchors?.filter(({ fingerprint: print }) => !own.has(print));
}

function taken(published: PublishedBundle): readonly RetainedAnchorStatus[] {
  return inheritedAnchors(published, ownAnchors(published.signer))
    .slice(0, MAX_RETAINED_ANCHORS)
    .map(({ anchor, fingerprint: print, until }) => ({
      fingerprint: print,
      until: formatTime(until),
      anchor: writeAnchors([anchor]),
    }));
}

function ownAnchors({ status }: Pick<ClusterSigner, 'status'>): ReadonlySet<string> {
  const texts = (status?.authorities ?? []).map((each) => each.anchors ?? '');
  return anchorFingerprints(texts.join('\n'));
}

/**
 * The time for which `status.formerAnchors` keeps removed anchors, for an attester that is away
 * meanwhile.
 */
const FORMER_MS = 86_400_000;

/**
 * Returns the new `status.formerAnchors`. An anchor that leaves the status by this write leaves the
 * bundle by the next, and no Event warns of it. It covers the last day, and is written only when an
 * anchor is added.
 */
export function nextFormerAnchors(
  before: ClusterSignerStatus | undefined,
  after: Pick<ClusterSignerStatus, 'authorities' | 'retainedAnchors'>,
  now: number,
): readonly FormerAnchorStatus[] {
  const known = before?.formerAnchors ?? [];
  const left = anchorsOf(after);
  const gone = [...anchorsOf(before ?? {})].filter((each) => !left.has(each));
  if (gone.length === 0) return known;
  const added = gone.map((each) => ({ fingerprint: each, removedAt: formatTime(now) }));
  const kept = known.filter(
    (each) => !gone.includes(each.fingerprint) && now < parseTime(each.removedAt) + FORMER_MS,
  );
  return [...added, ...kept].slice(0, MAX_FORMER_ANCHORS);
}

function anchorsOf({
  authorities = [],
  retainedAnchors: retained = [],
}: Pick<ClusterSignerStatus, 'authorities' | 'retainedAnchors'>): ReadonlySet<string> {
  const texts = authorities.map(({ anchors = '' }) => anchors);
  return new Set([
    ...texts.flatMap((text) => [...anchorFingerprints(text)]),
    ...retained.map((each) => each.fingerprint),
  ]);
}
