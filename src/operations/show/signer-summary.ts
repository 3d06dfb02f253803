// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { RETIRING_MARGIN_MS } from '#ca/rotation/authorities.ts';
import { isKeyLost } from '../lost-key.ts';
import { authoritiesOf, servedSinceOf, type SignerState } from '../signer-state.ts';
import { warningsOf } from './warnings.ts';

/** One CA of a ClusterSigner as `show` prints it. Times are RFC 3339. */
export interface AuthoritySummary extends Omit<AuthorityStatus, 'anchors'> {
  /** Time since which the bundle serves its anchors. */
  readonly servedSince?: string;
  /** The next scheduled event. */
  readonly next?: { readonly what: string; readonly at: string };
}

/** One ClusterSigner as `show` prints it. */
export interface SignerSummary {
  readonly name: string;
  readonly signerName: string;
  readonly authority: 'managed' | 'secret' | 'keyHolder';
  /** Name of the key in the key holder that has it. */
  readonly heldKey?: string;
  readonly ready: {
    readonly status: 'True' | 'False' | 'Unknown';
    readonly reason?: string;
    readonly message?: string;
  };
  readonly authorities: readonly AuthoritySummary[];
  readonly warnings: readonly string[];
}

/** Summarizes a ClusterSigner, its CAs, and the warnings for the user. */
export function summarizeSigner(state: SignerState): SignerSummary {
  const { metadata, spec, status } = state.signer;
  const ready = findCondition(status?.conditions, 'Ready');
  return {
    name: metadata.name,
    signerName: spec.signerName,
    ...custodyOf(spec.authority),
    ready: {
      status: ready?.status ?? 'Unknown',
      ...(ready?.reason === undefined ? {} : { reason: ready.reason }),
      ...(ready?.message === undefined ? {} : { message: ready.message }),
    },
    authorities: authoritiesOf(state).map((each) => summarizeAuthority(state, each)),
    warnings: warningsOf(state),
  };
}

/** Returns the place of the CA's key. */
function custodyOf({
  managed,
  keyHolder,
}: ClusterSigner['spec']['authority']): Pick<SignerSummary, 'authority' | 'heldKey'> {
  if (keyHolder !== undefined) return { authority: 'keyHolder', heldKey: keyHolder.key };
  return { authority: managed === undefined ? 'secret' : 'managed' };
}

function summarizeAuthority(state: SignerState, authority: AuthorityStatus): AuthoritySummary {
  const { fingerprint, phase, notBefore, notAfter, longestLeaf } = authority;
  const { leavesExpireBy, crossSignedBy } = authority;
  const since = servedSinceOf(state, authority);
  const next = nextOf(state, authority, since);
  return {
    fingerprint,
    phase,
    notBefore,
    notAfter,
    longestLeaf,
    ...(leavesExpireBy === undefined ? {} : { leavesExpireBy }),
    ...(crossSignedBy === undefined ? {} : { crossSignedBy }),
    ...(since === undefined ? {} : { servedSince: formatTime(since) }),
    ...(next === undefined ? {} : { next }),
  };
}

function nextOf(
  { signer, propagationSeconds }: SignerState,
  { phase, notAfter, leavesExpireBy }: AuthorityStatus,
  since: number | undefined,
): AuthoritySummary['next'] {
  if (phase === 'Active') {
    if (isKeyLost(signer)) return undefined;
    const at = signer.status?.nextRotation;
    return at === undefined ? { what: 'ends', at: notAfter } : { what: 'is replaced', at };
  }
  if (phase === 'Prepared') {
    if (since === undefined) return undefined;
    return { what: 'may sign', at: formatTime(since + propagationSeconds * 1000) };
  }
  if (leavesExpireBy === undefined) return undefined;
  const isServed = phase === 'Retiring' && signer.spec.trustBundle !== undefined;
  const what = isServed ? 'leaves the bundle' : 'is forgotten';
  return { what, at: formatTime(parseTime(leavesExpireBy) + RETIRING_MARGIN_MS) };
}
