// SPDX-License-Identifier: Apache-2.0
import { servedSince, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { requireServedChain, signsFrom, type Gate } from '#ca/rotation/signs-from.ts';

/** The anchors of a bundle, and since when it serves each. */
export type ServedAnchors = Pick<Gate, 'published' | 'servedSince'>;

const NOTHING_SERVED: ServedAnchors = { published: undefined, servedSince: new Map() };

/**
 * Parsed once for each version of a bundle, not for each request. Cached objects are replaced,
 * never changed.
 */
const known = new WeakMap<ClusterTrustBundle, ServedAnchors>();

/** Returns the anchors that the bundle serves, or none without a bundle. */
export function servedBy(bundle: ClusterTrustBundle | undefined): ServedAnchors {
  if (bundle === undefined) return NOTHING_SERVED;
  const before = known.get(bundle);
  if (before !== undefined) return before;
  const published = anchorFingerprints(bundle.spec.trustBundle);
  const served = { published, servedSince: servedSince(bundle) };
  known.set(bundle, served);
  return served;
}

/** Inputs of the propagation gate, apart from the CA. */
export interface GateInput {
  readonly bundle: ClusterTrustBundle | undefined;
  /** True if an annotation of its Secret exempts the CA from waiting. */
  readonly atOnce: boolean;
  readonly propagationSeconds: number;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/**
 * Enforces the propagation gate: publish the anchor, wait until verifiers have loaded it, then
 * sign.
 *
 * @throws SignerError ANCHOR_NOT_SERVED (`authority`)
 */
export function requireGate(facts: AuthorityFacts, input: GateInput): void {
  const { bundle, now, ...rest } = input;
  const gate = { ...servedBy(bundle), ...rest };
  const from = passesFrom(facts, gate, input);
  if (from === undefined || now < from) requireServedChain(facts, gate, now);
}

interface GateResult extends Omit<GateInput, 'now'> {
  readonly from: number | undefined;
}

/**
 * Results per CA, so that its chain is verified once for each version of its bundle, not for each
 * request.
 */
const passed = new WeakMap<AuthorityFacts, GateResult>();

function passesFrom(facts: AuthorityFacts, gate: Gate, input: GateInput): number | undefined {
  const { now, ...key } = input;
  const before = passed.get(facts);
  if (before !== undefined && isSame(before, key)) return before.from;
  const from = signsFrom(facts, gate, now);
  passed.set(facts, { ...key, from });
  return from;
}

function isSame(a: Omit<GateInput, 'now'>, b: Omit<GateInput, 'now'>): boolean {
  return (
    a.bundle === b.bundle && a.atOnce === b.atOnce && a.propagationSeconds === b.propagationSeconds
  );
}
