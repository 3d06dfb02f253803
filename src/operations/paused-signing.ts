// SPDX-License-Identifier: Apache-2.0
import { servedSince, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import {
  propagatedAt,
  requirePropagatedAnchor,
  type PropagationInput,
} from '#ca/issuance/propagation-gate.ts';
import { LATE_SIGNING_MS, stoppedSigningBy } from '#ca/rotation/authorities.ts';
import { isKeyLost } from './lost-key.ts';
import {
  authoritiesOf,
  fingerprintsOf,
  publishedAnchors,
  servedSinceOf,
  type SignerState,
} from './signer-state.ts';

/** The reason why signing with the Active CA is paused. */
export interface HeldSigning {
  /** Message, as the components report it. */
  readonly message: string;
  /**
   * RFC 3339 time at which the pause ends. Undefined if it ends once attester publishes the anchor.
   */
  readonly until?: string;
}

type Gate = Omit<PropagationInput, 'anchor' | 'now'>;

function gateOf(state: SignerState, bundle: ClusterTrustBundle | undefined): Gate {
  const { distrusted = [] } = state.signer.spec.authority.managed ?? {};
  return {
    published: bundle === undefined ? undefined : publishedAnchors(state),
    servedSince: bundle === undefined ? new Map() : servedSince(bundle),
    propagationSeconds: state.propagationSeconds,
    // After a distrust the CA may sign at once. The CA Secret has the answer, but is not read here.
    atOnce: distrusted.length > 0,
  };
}

/**
 * Finds out whether components wait until the anchor of a CA has been published for the
 * propagation time. The CA is the Active one, or the one that replaces a CA whose key is lost.
 * @returns undefined if they do not wait, or the user may not read the bundle
 */
export function heldSigning(state: SignerState): HeldSigning | undefined {
  return heldByLoss(state) ?? heldByAnchor(state);
}

/** Returns the pause after the key of the Active CA was lost, as `authority` reports it. */
function heldByLoss(state: SignerState): HeldSigning | undefined {
  if (!isKeyLost(state.signer)) return undefined;
  const ready = findCondition(state.signer.status?.conditions, 'Ready');
  const next = authoritiesOf(state).find(({ phase }) => phase === 'Prepared');
  const since = next && servedSinceOf(state, next);
  const until =
    since === undefined ? {} : { until: formatTime(since + state.propagationSeconds * 1000) };
  return { message: ready?.message ?? '', ...until };
}

function heldByAnchor(state: SignerState): HeldSigning | undefined {
  const { signer, bundle, now } = state;
  const active = authoritiesOf(state).find(({ phase }) => phase === 'Active');
  if (signer.spec.trustBundle === undefined || bundle === 'unread' || active === undefined) return;
  if (hasTakenOver(state, active)) return;
  const gate = gateOf(state, bundle);
  const anchors = fingerprintsOf(active).map((anchor) => ({
    anchor,
    from: propagatedAt({ ...gate, anchor }) ?? Infinity,
  }));
  // One anchor may suffice for the chain.
  const [first] = anchors.toSorted((a, b) => a.from - b.from);
  if (first === undefined || first.from <= now) return;
  const { anchor, from } = first;
  const waits = attempt(() => {
    requirePropagatedAnchor({ ...gate, anchor, now });
  });
  if (!(waits instanceof SignerError)) return;
  return { message: waits.message, ...(from === Infinity ? {} : { until: formatTime(from) }) };
}

/**
 * Reports whether another CA stopped signing because this one began, and the bundle has not lost
 * the anchors of this one since. `authority` knows from the CA Secret that a CA may sign at once.
 */
function hasTakenOver(state: SignerState, active: AuthorityStatus): boolean {
  const served = servedSinceOf(state, active);
  if (served === undefined) return false;
  return authoritiesOf(state).some((each) => {
    const stoppedBy = each === active ? undefined : stoppedSigningBy(each);
    return stoppedBy !== undefined && stoppedBy - LATE_SIGNING_MS >= served;
  });
}
