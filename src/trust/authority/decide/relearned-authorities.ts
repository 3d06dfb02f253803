// SPDX-License-Identifier: Apache-2.0
import { servedSince, timesOf, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { formatDuration, parseDuration } from '#api/object/duration.ts';
import { formatTime } from '#api/object/time.ts';
import { INHERITED, LONGEST_LEAF, isManaged } from '#api/signer/bundle-annotations.ts';
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { CLUSTER_SIGNER_UID } from '#api/signer/grant.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { anchorFingerprints, readAnchors, writeAnchors } from '#pki/x509/trust-bundle.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { secondsOf } from '#ca/rotation/last-leaf-end.ts';
import type { PublishedBundle } from '#ca/rotation/retained-anchors.ts';

/**
 * Returns `status.authorities` with the CAs that the bundle of this very ClusterSigner still shows
 * after the status was lost. Their leaves may be valid. They count as Active, so the signing CA is
 * not interrupted, and those not in the Secret retire.
 *
 * Applies only while `status.retainedAnchors` is absent. After the first inspection the bundle adds
 * no anchor (ADR 0027). A CA that is out of trust is never learned.
 *
 * @param roots - fingerprints of anchors that belong to the CA in the Secret and are not CAs of
 * their own
 */
export function relearnedAuthorities(
  published: PublishedBundle,
  roots: ReadonlySet<string>,
): readonly AuthorityStatus[] {
  const { signer, bundle } = published;
  const known = signer.status?.authorities ?? [];
  if (bundle === undefined || !isMemory(published, bundle)) return known;
  const anchors = attempt(() => readAnchors(bundle.spec.trustBundle));
  if (anchors instanceof SignerError) return known;
  const { annotations = {} } = bundle.metadata;
  const [since, inherited] = [servedSince(bundle), timesOf(annotations[INHERITED])];
  const isOut = distrustedCas(signer);
  const longest = Math.max(
    secondsOf(annotations[LONGEST_LEAF]),
    parseDuration(signer.spec.profile.maxDuration),
  );
  const learned = anchors
    .map((anchor) => ({ anchor, print: fingerprint(anchor.raw) }))
    .filter(({ print }) => known.every((each) => each.fingerprint !== print))
    .filter(({ print }) => since.has(print) && !inherited.has(print) && !roots.has(print))
    .filter(({ print }) => !isOut(print))
    .sort((a, b) => b.anchor.notBefore - a.anchor.notBefore)
    .map(({ anchor, print }) => entryOf(anchor, print, longest));
  return [...known, ...learned];
}

/**
 * Reports whether the bundle was published for this very ClusterSigner, whose status has no record
 * of anchors.
 */
function isMemory(
  { signer, secretNamespace }: PublishedBundle,
  bundle: ClusterTrustBundle,
): boolean {
  const { status, spec, metadata } = signer;
  if (status?.retainedAnchors !== undefined || spec.trustBundle === undefined) return false;
  if (!isManaged(bundle, secretNamespace)) return false;
  return bundle.metadata.annotations?.[CLUSTER_SIGNER_UID] === metadata.uid;
}

/** Maximum time for authority to list a new CA in the status, unless it is away. */
const LISTED_WITHIN_MS = 3_600_000;
/** Maximum time from the creation of a CA that need not be prepared to its activation. */
const MADE_WITHIN_MS = 60_000;

interface UnlistedTimes {
  readonly bornAt: number | undefined;
  readonly activatedAt: number | undefined;
  readonly now: number;
}

/**
 * Returns the longest leaf in seconds of a signing CA that the status does not list.
 *
 * If the bundle serves the CA, its entry was lost and the bundle records the length. The same holds
 * if the bundle serves an anchor of the CA that no entry has: the entry of this intermediate, or of
 * an earlier one below that anchor, was lost.
 *
 * If the bundle lacks the CA long after its activation, attester acted on the lost status first.
 * The same holds for a CA that was prepared before its activation, since the status listed it then.
 * Then the CA's whole lifetime counts, since no leaf outlives its CA.
 *
 * @param bornAt - milliseconds: when the CA, or its chain of an upstream CA, came into the Secret.
 * Undefined if Countersign does not manage it
 * @param activatedAt - milliseconds, or undefined if the Secret does not record it
 * @returns undefined for a new CA
 */
export function unlistedLongestLeaf(
  {
    fingerprint: print,
    notBefore,
    notAfter,
    anchors,
  }: Pick<AuthorityFacts, 'fingerprint' | 'notBefore' | 'notAfter' | 'anchors'>,
  { signer, bundle }: Pick<PublishedBundle, 'signer' | 'bundle'>,
  { bornAt, activatedAt, now }: UnlistedTimes,
): number | undefined {
  const known = (signer.status?.authorities ?? []).map((each) => each.anchors ?? '');
  const listed = anchorFingerprints(known.join('\n'));
  const unlisted = anchors.map(({ raw }) => fingerprint(raw)).filter((each) => !listed.has(each));
  if (bundle !== undefined) {
    const since = servedSince(bundle);
    const isServed = [print, ...unlisted].some((each) => since.has(each));
    if (isServed) return secondsOf(bundle.metadata.annotations?.[LONGEST_LEAF]);
  }
  const isNew =
    activatedAt === undefined ||
    (now < activatedAt + LISTED_WITHIN_MS && !wasPrepared(bornAt, activatedAt));
  return isNew ? undefined : Math.ceil((notAfter - notBefore) / 1000);
}

function wasPrepared(bornAt: number | undefined, activatedAt: number): boolean {
  return bornAt !== undefined && activatedAt > bornAt + MADE_WITHIN_MS;
}

function entryOf(anchor: Certificate, print: string, longestSeconds: number): AuthorityStatus {
  return {
    fingerprint: print,
    phase: 'Active',
    notBefore: formatTime(anchor.notBefore),
    notAfter: formatTime(anchor.notAfter),
    longestLeaf: formatDuration(longestSeconds),
    anchors: writeAnchors([anchor]),
  };
}
