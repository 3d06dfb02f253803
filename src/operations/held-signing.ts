// SPDX-License-Identifier: Apache-2.0
import { servedSince, type ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import { formatTime } from '../api/object/time.ts';
import { SignerError, attempt } from '../errors.ts';
import {
  propagatedAt,
  requirePropagatedAnchor,
  type PropagationInput,
} from '../issuance/propagation-gate.ts';
import {
  authoritiesOf,
  fingerprintsOf,
  publishedAnchors,
  type SignerState,
} from './signer-state.ts';

/** Why nothing is signed with the CA that is Active. */
export interface HeldSigning {
  /** As the components say it. */
  readonly message: string;
  /** RFC 3339: when it ends by itself; undefined: once attester publishes the anchor. */
  readonly until?: string;
}

type Gate = Omit<PropagationInput, 'anchor' | 'now'>;

function gateOf(state: SignerState, bundle: ClusterTrustBundle | undefined): Gate {
  const { distrusted = [] } = state.signer.spec.authority.managed ?? {};
  return {
    published: bundle === undefined ? undefined : publishedAnchors(state),
    servedSince: bundle === undefined ? new Map() : servedSince(bundle),
    propagationSeconds: state.propagationSeconds,
    // The CA Secret says whether it signs at once, and is not read: after a distrust it may.
    atOnce: distrusted.length > 0,
  };
}

/**
 * Whether components wait until the anchor of the Active CA is in the bundle, and in it for long enough (publish, wait, then sign).
 *
 * @returns undefined where they do not wait, or the bundle may not be read
 */
export function heldSigning(state: SignerState): HeldSigning | undefined {
  const { signer, bundle, now } = state;
  const active = authoritiesOf(state).find(({ phase }) => phase === 'Active');
  if (signer.spec.trustBundle === undefined || bundle === 'unread' || active === undefined) return;
  const gate = gateOf(state, bundle);
  const anchors = fingerprintsOf(active).map((anchor) => ({
    anchor,
    from: propagatedAt({ ...gate, anchor }) ?? Infinity,
  }));
  // One may suffice for its chain.
  const [first] = anchors.toSorted((a, b) => a.from - b.from);
  if (first === undefined || first.from <= now) return;
  const { anchor, from } = first;
  const waits = attempt(() => {
    requirePropagatedAnchor({ ...gate, anchor, now });
  });
  if (!(waits instanceof SignerError)) return;
  return { message: waits.message, ...(from === Infinity ? {} : { until: formatTime(from) }) };
}
