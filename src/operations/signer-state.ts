// SPDX-License-Identifier: Apache-2.0
import { UNKNOWN_ANCHOR_ADVICE } from '#api/signer/unknown-anchor.ts';
import type { AuthorityPhase, AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { servedSince, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { anchorFingerprints, readAnchors } from '#pki/x509/trust-bundle.ts';
import { formatTime } from '#api/object/time.ts';

/** The published bundle: `unread` if the user may not read it, undefined if there is none. */
export type ReadBundle = ClusterTrustBundle | 'unread' | undefined;

/** The input of every verb: one ClusterSigner and its bundle, as the API server has them. */
export interface SignerState {
  readonly signer: ClusterSigner;
  readonly bundle: ReadBundle;
  /** Seconds that an anchor must have been served before its CA signs. */
  readonly propagationSeconds: number;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
}

/**
 * Returns the time since which all anchors of a CA are served, in milliseconds since the epoch, or
 * undefined while one is not.
 */
export function servedSinceOf(
  { bundle }: SignerState,
  authority: AuthorityStatus,
): number | undefined {
  if (bundle === undefined || bundle === 'unread') return undefined;
  const published = anchorFingerprints(bundle.spec.trustBundle);
  const since = servedSince(bundle);
  const times = fingerprintsOf(authority).map((each) =>
    published.has(each) ? since.get(each) : undefined,
  );
  const known = times.filter((time) => time !== undefined);
  return known.length < times.length || known.length === 0 ? undefined : Math.max(...known);
}

/**
 * Returns the fingerprints of the anchors in the bundle. Empty if the bundle is absent or could not
 * be read.
 */
export function publishedAnchors({ bundle }: SignerState): ReadonlySet<string> {
  return bundle === undefined || bundle === 'unread'
    ? new Set()
    : anchorFingerprints(bundle.spec.trustBundle);
}

/** An anchor in the bundle that belongs to no trusted CA of the signer. */
export interface UnexpectedAnchor {
  readonly fingerprint: string;
  /** True for an anchor that attester removes, because it is distrusted. */
  readonly isDistrusted?: true;
  /**
   * RFC 3339 time until which it is kept for the leaves of an earlier ClusterSigner. Undefined for
   * a distrusted or foreign anchor.
   */
  readonly retainedUntil?: string;
}

/**
 * Returns the anchors in the bundle that belong to no trusted CA of the signer: distrusted, of an
 * earlier ClusterSigner, or foreign.
 */
export function unexpectedAnchors(state: SignerState): readonly UnexpectedAnchor[] {
  const isDistrusted = distrustedCas(state.signer);
  const own = new Set(authoritiesOf(state).flatMap(fingerprintsOf));
  const { retainedAnchors = [] } = state.signer.status ?? {};
  const retained = new Map(retainedAnchors.map((each) => [each.fingerprint, each.until]));
  return [...publishedAnchors(state)]
    .filter((each) => isDistrusted(each) || !own.has(each))
    .map((fingerprint) => {
      if (isDistrusted(fingerprint)) return { fingerprint, isDistrusted: true };
      const until = retained.get(fingerprint);
      return until === undefined ? { fingerprint } : { fingerprint, retainedUntil: until };
    });
}

/** Returns the warning about an {@link UnexpectedAnchor}. */
export function unexpectedAnchorText(anchor: UnexpectedAnchor): string {
  const { fingerprint, isDistrusted, retainedUntil } = anchor;
  if (isDistrusted === true)
    return `${fingerprint} is distrusted and still in the bundle: verifiers accept what it signs. Check that the attester is running`;
  return retainedUntil === undefined
    ? `the bundle holds ${fingerprint}, which is not a CA of this ClusterSigner: it is of an earlier one, or another client added it`
    : `the bundle keeps ${fingerprint} until ${retainedUntil}: it was published for an earlier ClusterSigner. ${UNKNOWN_ANCHOR_ADVICE}`;
}

/** Returns the CAs in the status. Empty before the first reconcile. */
export function authoritiesOf({ signer }: SignerState): readonly AuthorityStatus[] {
  return signer.status?.authorities ?? [];
}

/** Returns the phase of the CA with a fingerprint. Undefined for a CA that is not in the status. */
export function phaseOf(state: SignerState, fingerprint: string): AuthorityPhase | undefined {
  return authoritiesOf(state).find((each) => each.fingerprint === fingerprint)?.phase;
}

/** Returns the fingerprints of the anchors of a CA. Empty if the status has no readable ones. */
export function fingerprintsOf({ anchors = '' }: AuthorityStatus): readonly string[] {
  const found = attempt(() => readAnchors(anchors));
  return found instanceof SignerError ? [] : found.map(({ raw }) => fingerprint(raw));
}

/**
 * Returns the earliest time at which the authority component creates a successor, if that is in the
 * future. The active CA must have been published for the propagation time first
 * (rotation/next-step.ts).
 * @returns RFC 3339
 */
export function successorNotBefore(state: SignerState): string | undefined {
  const { now, propagationSeconds } = state;
  const active = authoritiesOf(state).find(({ phase }) => phase === 'Active');
  const since = active === undefined ? undefined : servedSinceOf(state, active);
  if (since === undefined) return undefined;
  const from = since + propagationSeconds * 1000;
  return now < from ? formatTime(from) : undefined;
}

/** Returns {@link successorNotBefore} as a note for the user. */
export function successorDelayNotes(state: SignerState): readonly string[] {
  const from = successorNotBefore(state);
  return from === undefined
    ? []
    : [
        `the successor is created at ${from} at the earliest: the active CA must have been published for the propagation time first`,
      ];
}
