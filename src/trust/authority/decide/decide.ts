// SPDX-License-Identifier: Apache-2.0
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { anchorsWithinRoom } from '#component/signers/signer-quota.ts';
import { parseTime } from '#api/object/time.ts';
import { parseDuration } from '#api/object/duration.ts';
import { SignerError } from '#base/errors.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { writeAnchors } from '#pki/x509/trust-bundle.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { nextAuthorities, nextRemovalOrExpiry, type PublicHalf } from '#ca/rotation/authorities.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import { observe, type Observation } from './observe.ts';
import { managedRotation } from './managed-rotation.ts';
import { activationTime } from './activation-time.ts';
import {
  nextFormerAnchors,
  nextRetainedAnchors,
  withoutOwn,
} from '#ca/rotation/retained-anchors.ts';
import { relearnedAuthorities, unlistedLongestLeaf } from './relearned-authorities.ts';
import { nextTrustMemory } from '#ca/rotation/trust-memory.ts';
import { foundCrossCertificates } from './cross-certificates.ts';
import { withSecretUids } from './lost-key.ts';
import { statusWhileUnread } from './served.ts';
import { withSigningTimes } from './signing-times.ts';
import { conditionsChangeAt, statusOf } from './status.ts';
import { activationOf } from './slots.ts';
import type { SignerSnapshot } from './snapshot.ts';
import type { UpstreamFinding } from './upstream.ts';

export interface SignerPlan {
  /**
   * A write of the CA's Secret. The resulting status is written after the watch shows that write.
   */
  readonly step: RotationStep | undefined;
  readonly status: ClusterSignerStatus;
  readonly requeueAt: number | undefined;
}

/** Interval for reading an unreadable Secret again. Its watch usually reports it sooner. */
const UNREAD_SECRET_RETRY_MS = 5_000;
/** Interval for a CA whose notBefore is in the future, which becomes valid without a change. */
const UNUSABLE_SECRET_RETRY_MS = 30_000;
/**
 * Interval while clocks differ. An administrator or NTP sets them, and any response of the API
 * server shows the new offset.
 */
const CLOCKS_APART_RETRY_MS = 30_000;

/** Interval for checking a refused chain again. */
const REFUSED_CHAIN_RETRY_MS = 60_000;

/** Decides one ClusterSigner. Synchronous and total. */
export function decide(snapshot: SignerSnapshot): SignerPlan {
  const { secret, now } = snapshot;
  const unread = secret.kind === 'unknown' ? statusWhileUnread(snapshot) : undefined;
  if (unread !== undefined) {
    return { step: undefined, status: unread, requeueAt: now + UNREAD_SECRET_RETRY_MS };
  }
  return withAnchorRecords(snapshot, planOf(withTrustMemory(snapshot)));
}

/** Adds to the status the anchors that do not belong to a current CA of this signer. */
function withAnchorRecords({ signer, now }: SignerSnapshot, plan: SignerPlan): SignerPlan {
  if (signer.spec.trustBundle === undefined) return plan;
  const { retainedAnchors: taken, ...rest } = plan.status;
  const isFirst = signer.status?.retainedAnchors === undefined;
  const retainedAnchors = isFirst ? withoutOwn(taken, plan.status) : taken;
  const former = nextFormerAnchors(
    signer.status,
    { ...rest, ...(retainedAnchors === undefined ? {} : { retainedAnchors }) },
    now,
  );
  const status = {
    ...rest,
    ...(retainedAnchors === undefined ? {} : { retainedAnchors }),
    ...(former.length === 0 ? {} : { formerAnchors: former }),
  };
  const ends = retainedAnchors?.map(({ until }) => parseTime(until)) ?? [];
  return { ...plan, status, requeueAt: earliest(now, [plan.requeueAt, ...ends]) };
}

/** Adds to the snapshot the memory that its status must keep, so that later decisions use it. */
function withTrustMemory(snapshot: SignerSnapshot): SignerSnapshot {
  const { clocksApart, now } = snapshot;
  const signer = withRelearned(snapshot);
  const { crossCertificates: _cross, distrusted: _distrusted, ...rest } = signer.status ?? {};
  const found = foundCrossCertificates(snapshot);
  const memory = nextTrustMemory({ signer, found, clocksApart, now });
  const remembering = { ...signer, status: { ...rest, ...memory } };
  const retainedAnchors = retainedOf({ ...snapshot, signer: remembering });
  const status = {
    ...remembering.status,
    ...(retainedAnchors === undefined ? {} : { retainedAnchors }),
  };
  return { ...snapshot, signer: { ...signer, status } };
}

/** Restores the CAs of a lost status from the bundle. */
function withRelearned(snapshot: SignerSnapshot): ClusterSigner {
  const { signer, secret, inspect } = snapshot;
  if (!serves(snapshot) || signer.status?.retainedAnchors !== undefined) return signer;
  const facts = secret.kind === 'found' ? inspect(secret.secret, 'tls') : undefined;
  const roots =
    facts === undefined || facts instanceof SignerError
      ? []
      : facts.anchors
          .map(({ raw }) => fingerprint(raw))
          .filter((each) => each !== facts.fingerprint);
  const authorities = relearnedAuthorities(snapshot, new Set(roots));
  return authorities.length === 0
    ? signer
    : { ...signer, status: { ...signer.status, authorities } };
}

/** Returns the retained anchors. Only the ClusterSigner that serves its name inherits any. */
function retainedOf(snapshot: SignerSnapshot): ClusterSignerStatus['retainedAnchors'] {
  return nextRetainedAnchors(snapshot, serves(snapshot));
}

/** Reports whether the signer serves its name and its bundle is known. */
function serves({ signer, elder, specError, deferred, isBundleKnown }: SignerSnapshot): boolean {
  const isServing = elder === undefined && specError === undefined && deferred === undefined;
  return isServing && isBundleKnown && !isNamespaced(signer);
}

function planOf(snapshot: SignerSnapshot): SignerPlan {
  const { now } = snapshot;
  const finding = observe(snapshot);
  const managed = managedRotation(snapshot, finding);
  const begins =
    finding.active === undefined ? undefined : activationTime(snapshot, finding.active);
  const authorities = authoritiesOf(snapshot, finding, { begins, bornAt: managed?.active?.bornAt });
  const input = { snapshot, finding, managed, authorities, begins };
  const times = [
    lookAgainAt(snapshot, finding),
    snapshot.clocksApart ? now + CLOCKS_APART_RETRY_MS : undefined,
    begins,
    managed?.lookAt,
    ...upstreamTimes(managed?.upstream, now),
    nextRemovalOrExpiry(authorities, now),
    ...conditionsChangeAt(input),
  ];
  return { step: managed?.step, status: statusOf(input), requeueAt: earliest(now, times) };
}

/** Returns when a certificate that is awaited may change without an event. In milliseconds. */
function upstreamTimes(
  found: UpstreamFinding | undefined,
  now: number,
): readonly (number | undefined)[] {
  if (found === undefined) return [];
  const { refusal, retryAt, answer } = found;
  // A chain that is not valid yet is accepted without a change.
  const again = refusal === undefined ? undefined : now + REFUSED_CHAIN_RETRY_MS;
  return [again, retryAt, answer?.lookAt];
}

/** Times of the CA in `tls.*`, in milliseconds, or undefined if unknown. */
interface SigningTimes {
  readonly begins: number | undefined;
  /** Undefined if Countersign does not manage the CA. */
  readonly bornAt: number | undefined;
}

function authoritiesOf(
  snapshot: SignerSnapshot,
  finding: Observation,
  { begins, bornAt }: SigningTimes,
): readonly AuthorityStatus[] {
  const { signer, secret, clocksApart, now } = snapshot;
  const { active, next } = finding;
  const activatedAt = secret.kind === 'found' ? activationOf(secret.secret) : undefined;
  const authorities = nextAuthorities({
    before: signer.status?.authorities ?? [],
    current: active && {
      ...publicHalf(active),
      signs: begins !== undefined && now >= begins,
      longestLeafSeconds: unlistedLongestLeaf(active, snapshot, { bornAt, activatedAt, now }),
      crossSignedBy: crossIssuer(signer, active),
    },
    next: next && publicHalf(next),
    isDistrusted: distrustedCas(signer),
    longestLeafSeconds: parseDuration(signer.spec.profile.maxDuration),
    clocksApart,
    now,
  });
  const held = withSecretUids(snapshot, active, authorities);
  const recorded = withSigningTimes(snapshot, finding, begins, held);
  return isNamespaced(signer) ? anchorsWithinRoom(recorded) : recorded;
}

/**
 * Returns when to read the Secret again after a failed read or a fault, or undefined if there is
 * neither.
 */
function lookAgainAt({ secret, now }: SignerSnapshot, { fault }: Observation): number | undefined {
  if (secret.kind === 'unknown') return now + UNREAD_SECRET_RETRY_MS;
  return fault === undefined ? undefined : now + UNUSABLE_SECRET_RETRY_MS;
}

/** Returns the earliest of these times that is in the future. */
function earliest(now: number, times: readonly (number | undefined)[]): number | undefined {
  const coming = times.filter((time): time is number => time !== undefined && time > now);
  return coming.length === 0 ? undefined : Math.min(...coming);
}

/**
 * Returns the CA whose cross-certificate is sent with leaves from now on, or undefined if none is
 * sent.
 */
function crossIssuer(signer: ClusterSigner, { cross }: AuthorityFacts): string | undefined {
  const isSent =
    cross !== undefined &&
    signer.spec.authority.managed?.crossSigned === true &&
    !distrustedCas(signer)(cross.issuer);
  return isSent ? cross.issuer : undefined;
}

function publicHalf(facts: AuthorityFacts): PublicHalf {
  const { fingerprint, notBefore, notAfter, anchors } = facts;
  return { fingerprint, notBefore, notAfter, anchors: writeAnchors(anchors) };
}
