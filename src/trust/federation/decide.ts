// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import {
  FETCHED_AT,
  SPIFFE_SEQUENCE,
  TRUST_DOMAIN,
  federatedBundleName,
} from '#api/object/federated-bundle.ts';
import { SECRET_NAMESPACE } from '#api/signer/bundle-annotations.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { publishedAnchors, writeAnchors } from '#pki/x509/trust-bundle.ts';
import { rejectedAnchor } from '#pki/x509/verifier-rules.ts';
import { judgeBundle, type BundleCriteria } from '../spiffe/judge-bundle.ts';
import { readBundle } from '../spiffe/read-bundle.ts';
import type { FetchResult } from './fetch.ts';
import * as messages from './messages.ts';

/**
 * The time from which the age of a bundle counts, if its last good answer came while the clocks
 * were apart: `unknown` until they agree, then the Unix milliseconds at which they did. Undefined
 * for the time in the bundle.
 */
export type AgeStart = number | 'unknown' | undefined;

/** State of the ClusterTrustBundle of one trust domain. */
export interface FederatedState {
  readonly trustDomain: string;
  readonly existing: ClusterTrustBundle | undefined;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
  /** True if the local clock contradicts the API server's. No trust then ends by time. */
  readonly clocksApart: boolean;
  /** Milliseconds to keep the bundle without a good answer. */
  readonly keepMs: number;
  readonly ageFrom?: AgeStart;
}

/** A change to the bundle. Each `reason` is CamelCase, for an Event and a metric. */
export type FederatedChange =
  | { readonly kind: 'keep'; readonly reason?: string; readonly message?: string }
  | {
      readonly kind: 'write';
      readonly reason: string;
      readonly text: string;
      readonly sequence: bigint | undefined;
      readonly at: number;
    }
  | { readonly kind: 'drop'; readonly reason: string; readonly message: string };

/**
 * Result of a fetch: the change, and the refresh interval in seconds that the endpoint suggests.
 */
export interface FetchDecision {
  readonly change: FederatedChange;
  readonly refreshSeconds?: number | undefined;
  /** True if the bundle was accepted. */
  readonly taken?: true;
  /** Sequence number of an accepted bundle. */
  readonly sequence?: bigint | undefined;
  readonly warning?: BundleWarning | undefined;
}

/** A warning about an accepted bundle. */
export interface BundleWarning {
  readonly reason: 'SharedAnchor' | 'AnchorRejected';
  readonly message: string;
}

/** Inputs to judge a fetched bundle and to warn about it. */
export interface FetchedBundleCriteria extends BundleCriteria {
  /** Returns another foreign trust domain whose bundle has the same key. */
  readonly sharedWith: (certificate: Certificate) => string | undefined;
}

const KEEP = { kind: 'keep' } as const;

/**
 * Reports whether this installation may write the object. It must name this trust domain and no
 * other installation.
 */
export function isOwn(
  { spec, metadata }: ClusterTrustBundle,
  trustDomain: string,
  secretNamespace: string,
): boolean {
  const { annotations = {} } = metadata;
  const writer = annotations[SECRET_NAMESPACE] ?? secretNamespace;
  return (
    spec.signerName === undefined &&
    annotations[TRUST_DOMAIN] === trustDomain &&
    writer === secretNamespace
  );
}

/**
 * Returns trust domains that have a bundle of this installation but are no longer configured. Pods
 * that mount such a bundle still trust it, although no component refreshes it.
 *
 * @param named - trust domains that are fetched or ended
 */
export function orphanedDomains(
  bundles: readonly ClusterTrustBundle[],
  named: ReadonlySet<string>,
  secretNamespace: string,
): readonly string[] {
  return bundles.flatMap((bundle) => {
    const { [TRUST_DOMAIN]: domain = '', [SECRET_NAMESPACE]: writer } =
      bundle.metadata.annotations ?? {};
    const isFederated = bundle.metadata.name === federatedBundleName(domain);
    const isOver = isFederated && writer === secretNamespace && !named.has(domain);
    return isOver && isOwn(bundle, domain, secretNamespace) ? [domain] : [];
  });
}

/**
 * Drops the bundle of a trust domain that an administrator ended, whatever its endpoint answers.
 */
export function decideEnded({ existing }: FederatedState): FederatedChange {
  if (existing === undefined) return KEEP;
  return dropped('Ended', messages.FEDERATION_ENDED);
}

/** Decides what an answer changes. Synchronous and total. */
export function decideFetched(
  state: FederatedState,
  fetched: FetchResult,
  judging: FetchedBundleCriteria,
): FetchDecision {
  if ('problem' in fetched)
    return { change: { ...KEEP, reason: 'FetchFailed', message: fetched.problem } };
  const bundle = readBundle(fetched.text);
  if (typeof bundle === 'string')
    return { change: { ...KEEP, reason: 'Malformed', message: bundle } };
  const refusal = judgeBundle(bundle, judging);
  if (refusal !== undefined) return { change: { ...KEEP, ...refusal } };
  const { sequence, refreshSeconds, anchors } = bundle;
  if (anchors.length === 0) {
    const message = messages.NO_USABLE_KEY;
    const kind = state.existing === undefined ? 'keep' : 'drop';
    return { change: { kind, reason: 'Revoked', message }, refreshSeconds, sequence, taken: true };
  }
  const text = attempt(() => writeAnchors(anchors));
  if (text instanceof SignerError)
    return { change: { ...KEEP, reason: 'Malformed', message: text.message } };
  const warning = sharedAnchor(anchors, judging) ?? unverifiable(anchors, state.now);
  const change = written(state, text, sequence);
  return { change, refreshSeconds, sequence, warning, taken: true };
}

/**
 * Returns a warning if two trust domains share a CA. A refusal would let either domain end the
 * other's bundle by copying its CA.
 */
function sharedAnchor(
  anchors: readonly Certificate[],
  { sharedWith }: FetchedBundleCriteria,
): BundleWarning | undefined {
  for (const each of anchors) {
    const other = sharedWith(each);
    if (other === undefined) continue;
    const message = messages.sharedAnchor(fingerprint(each.raw), other);
    return { reason: 'SharedAnchor', message };
  }
  return undefined;
}

/**
 * Returns a warning if some verifiers reject the leaves of a CA. A refusal would end the trust of
 * those that accept it.
 */
function unverifiable(anchors: readonly Certificate[], now: number): BundleWarning | undefined {
  const found = rejectedAnchor(anchors, now);
  if (found === undefined) return undefined;
  return { reason: 'AnchorRejected', message: messages.anchorRejected(found) };
}

/** Decides what the passage of time and our own CAs change in a published bundle. */
export function decideHeld(
  state: FederatedState,
  isManaged: BundleCriteria['isManaged'],
): FederatedChange {
  const { existing, now, keepMs, clocksApart } = state;
  if (existing === undefined) return KEEP;
  const age = now - confirmedSince(state);
  // A missing or implausible time gives no age, so the bundle counts as stale.
  const isStale = Number.isNaN(age) || age >= keepMs || age <= -keepMs;
  if (isStale && !clocksApart) {
    const message = messages.staleBundle(keepMs / 1000);
    return dropped('Stale', message);
  }
  const held = [...publishedAnchors(existing.spec.trustBundle).values()];
  const kept = held.filter((each): each is Certificate => each !== undefined && !isManaged(each));
  if (kept.length === held.length) return KEEP;
  if (kept.length === 0) return dropped('OwnAnchor', messages.NO_ACCEPTABLE_CA);
  const sequence = sequenceOf(existing);
  const at = knownTime(existing) ?? now;
  return { kind: 'write', reason: 'OwnAnchor', text: writeAnchors(kept), sequence, at };
}

/** Returns the Unix milliseconds from which the age of the bundle counts, or NaN if unknown. */
export function confirmedSince({ existing, ageFrom }: FederatedState): number {
  if (typeof ageFrom === 'number') return ageFrom;
  return existing === undefined ? NaN : fetchedAt(existing);
}

function knownTime(existing: ClusterTrustBundle): number | undefined {
  const at = fetchedAt(existing);
  return Number.isNaN(at) ? undefined : at;
}

/** Returns the Unix milliseconds of the last good answer, or NaN if the object has no time. */
export function fetchedAt({ metadata }: ClusterTrustBundle): number {
  return Date.parse(metadata.annotations?.[FETCHED_AT] ?? '');
}

/** Returns the sequence number of the published bundle. */
export function sequenceOf(bundle: ClusterTrustBundle | undefined): bigint | undefined {
  const text = bundle?.metadata.annotations?.[SPIFFE_SEQUENCE] ?? '';
  return /^\d{1,40}$/.test(text) ? BigInt(text) : undefined;
}

function dropped(reason: string, message: string): FederatedChange {
  return { kind: 'drop', reason, message };
}

/**
 * Each write wakes every kubelet, so a new time alone is written only after this share of the
 * bound.
 */
const TIME_SHARE = 8;
/** Maximum clock difference between two replicas. */
const CLOCKS_APART_MS = 60_000;

function written(
  state: FederatedState,
  text: string,
  sequence: bigint | undefined,
): FederatedChange {
  const { existing, now, clocksApart } = state;
  const isSame = existing?.spec.trustBundle === text && sequenceOf(existing) === sequence;
  if (isSame && (clocksApart || isRecent(state))) return KEEP;
  // The API server's clock may be the wrong one. Its correction would make the bundle stale.
  const known = clocksApart && existing !== undefined ? knownTime(existing) : undefined;
  const reason = isSame ? 'StillValid' : 'Updated';
  return { kind: 'write', reason, text, sequence, at: known ?? now };
}

function isRecent({ existing, now, keepMs }: FederatedState): boolean {
  const age = existing === undefined ? NaN : now - fetchedAt(existing);
  return age >= -CLOCKS_APART_MS && age < keepMs / TIME_SHARE;
}

/** Returns a predicate: a certificate has the key of one of these, or is distrusted. */
export function sameCaAs(
  own: readonly Certificate[],
  isDistrusted: (print: string) => boolean,
): BundleCriteria['isManaged'] {
  const keys = new Set(own.map(keyOf));
  return (certificate) =>
    keys.has(keyOf(certificate)) || isDistrusted(fingerprint(certificate.raw));
}

/**
 * Returns a lookup from a certificate to a trust domain with a CA of the same key.
 *
 * @param bundles - trust domain → PEM
 */
export function sharedAmong(
  bundles: ReadonlyMap<string, string>,
): FetchedBundleCriteria['sharedWith'] {
  const domains = new Map<string, string>();
  for (const [domain, text] of bundles)
    for (const each of publishedAnchors(text).values())
      if (each !== undefined) domains.set(keyOf(each), domain);
  return (certificate) => domains.get(keyOf(certificate));
}

function keyOf({ publicKey }: Certificate): string {
  return Buffer.from(publicKey.spki).toString('hex');
}
