// SPDX-License-Identifier: Apache-2.0
import { servedSince } from '#api/object/cluster-trust-bundle.ts';
import { findCondition } from '#api/request/conditions.ts';
import { UNINSTALLED } from '#api/serving/report.ts';
import type { AuthorityPhase, AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { propagatedAt, waitText } from '#ca/issuance/propagation-gate.ts';
import { isKeyLost } from './lost-key.ts';
import {
  authoritiesOf,
  fingerprintsOf,
  publishedAnchors,
  type SignerState,
} from './signer-state.ts';

/** The reason why signing with the Active CA is paused. */
export interface PausedSigning {
  /** Message, as the components report it. */
  readonly message: string;
  /**
   * RFC 3339 time at which the pause ends. Undefined if it ends once attester publishes the anchor.
   */
  readonly until?: string;
}

/**
 * Finds out whether components wait until the anchor of a CA has been published for the
 * propagation time. The CA is the Active one, or the one that replaces a CA whose key is lost.
 *
 * @returns undefined if components need not wait, after an uninstallation, or if the status lacks
 * the time and the user may not read the bundle
 */
export function pausedSigning(state: SignerState): PausedSigning | undefined {
  const { status } = state.signer;
  const { message = '' } = findCondition(status?.conditions, 'Ready') ?? {};
  if (message === UNINSTALLED) return undefined;
  if (!isKeyLost(state.signer)) {
    const start = startOf(state, 'Active');
    return start && heldUntil(state, start.at, () => waitText(start.anchor, start.at));
  }
  return heldUntil(state, startOf(state, 'Prepared')?.at, () => message);
}

/** @param at - milliseconds, or undefined if the time is unknown */
function heldUntil(
  { now }: SignerState,
  at: number | undefined,
  messageOf: () => string,
): PausedSigning | undefined {
  if (at === undefined) return { message: messageOf() };
  return at <= now ? undefined : { message: messageOf(), until: formatTime(at) };
}

/** When components begin to sign with a CA. */
interface SigningStart {
  /** Fingerprint of the anchor that they wait for. */
  readonly anchor: string;
  /** Milliseconds. Undefined while the anchor is not published. */
  readonly at: number | undefined;
}

/**
 * Returns when components begin to sign with the CA in this phase. Only `authority` knows from the
 * CA Secret that a CA need not wait.
 *
 * @returns undefined if the signer has no such CA or no bundle, or the time cannot be known
 */
function startOf(state: SignerState, phase: AuthorityPhase): SigningStart | undefined {
  const inPhase = authoritiesOf(state).filter((each) => each.phase === phase);
  // If two CAs are prepared, only the one in tls.* has the UID of its Secret.
  const authority = inPhase.find(({ secretUID }) => secretUID !== undefined) ?? inPhase[0];
  if (authority === undefined || state.signer.spec.trustBundle === undefined) return undefined;
  const [first] = fingerprintsOf(authority);
  if (first === undefined) return undefined;
  const { signsFrom } = authority;
  const written = signsFrom === undefined ? undefined : parseTime(signsFrom);
  if (state.bundle !== 'unread') {
    return startByBundle(state, authority, written) ?? { anchor: first, at: undefined };
  }
  return written === undefined ? undefined : { anchor: first, at: written };
}

/**
 * Returns the time that `authority` wrote, unless the bundle has the anchor since a later time: the
 * bundle lost it meanwhile, and `authority` has not written the status since. The bundle then
 * decides, as it does for a status without the time.
 *
 * @param written - milliseconds
 * @returns undefined while the bundle has no anchor of the CA
 */
function startByBundle(
  state: SignerState,
  authority: AuthorityStatus,
  written: number | undefined,
): SigningStart | undefined {
  const { bundle, propagationSeconds } = state;
  if (bundle === undefined || bundle === 'unread') return undefined;
  const published = publishedAnchors(state);
  const times = servedSince(bundle);
  const served = fingerprintsOf(authority).flatMap((anchor) => {
    const since = published.has(anchor) ? times.get(anchor) : undefined;
    return since === undefined ? [] : [{ anchor, since }];
  });
  // One anchor may suffice for the chain.
  const [first] = served.toSorted((a, b) => a.since - b.since);
  if (first === undefined) return undefined;
  const { anchor, since } = first;
  if (written !== undefined && written >= since) return { anchor, at: written };
  return {
    anchor,
    at: propagatedAt({ anchor, published, servedSince: times, propagationSeconds }),
  };
}
