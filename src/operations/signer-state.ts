// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '../api/signer/cluster-signer.ts';
import { servedSince, type ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import { SignerError, attempt } from '../errors.ts';
import { fingerprint } from '../pki/x509/certificate.ts';
import { anchorFingerprints, readAnchors } from '../pki/x509/trust-bundle.ts';
import { formatTime } from '../api/object/time.ts';

/** The published bundle: `unread` where the user may not read it, undefined where there is none. */
export type ReadBundle = ClusterTrustBundle | 'unread' | undefined;

/** What the verbs decide on: one ClusterSigner and its bundle, as the API server has them. */
export interface SignerState {
  readonly signer: ClusterSigner;
  readonly bundle: ReadBundle;
  /** How long an anchor must have been served before its CA signs, in seconds. */
  readonly propagationSeconds: number;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** Since when, in milliseconds, all anchors of a CA are served; undefined while one is not. */
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

/** Fingerprints of the anchors in the bundle; none where nobody knows. */
export function publishedAnchors({ bundle }: SignerState): ReadonlySet<string> {
  return bundle === undefined || bundle === 'unread'
    ? new Set()
    : anchorFingerprints(bundle.spec.trustBundle);
}

/** Anchors in the bundle that no CA of the status has: of an earlier ClusterSigner, or a stranger's. */
export function unknownAnchors(state: SignerState): readonly string[] {
  const own = new Set(authoritiesOf(state).flatMap(fingerprintsOf));
  return [...publishedAnchors(state)].filter((each) => !own.has(each));
}

export function authoritiesOf({ signer }: SignerState): readonly AuthorityStatus[] {
  return signer.status?.authorities ?? [];
}

function fingerprintsOf({ anchors }: AuthorityStatus): readonly string[] {
  const found = attempt(() => readAnchors(anchors));
  return found instanceof SignerError ? [] : found.map(({ raw }) => fingerprint(raw));
}

/**
 * From when on a successor may be made, where that is later than now: the CA that signs must be known to
 * every kubelet first (rotation/next-step.ts).
 */
export function successorNotBefore(state: SignerState): string | undefined {
  const { now, propagationSeconds } = state;
  const active = authoritiesOf(state).find(({ phase }) => phase === 'Active');
  const since = active === undefined ? undefined : servedSinceOf(state, active);
  if (since === undefined) return undefined;
  const from = since + propagationSeconds * 1000;
  return now < from ? formatTime(from) : undefined;
}

/** The same, for whoever orders one. */
export function successorDelayNotes(state: SignerState): readonly string[] {
  const from = successorNotBefore(state);
  return from === undefined
    ? []
    : [
        `the successor is made from ${from} on: the CA that signs now must be published that long first`,
      ];
}
