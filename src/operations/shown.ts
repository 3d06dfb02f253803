// SPDX-License-Identifier: Apache-2.0
import type { AuthorityPhase, AuthorityStatus } from '../api/signer/cluster-signer.ts';
import { findCondition } from '../api/request/conditions.ts';
import { formatTime, parseTime } from '../api/object/time.ts';
import { RETIRING_MARGIN_MS } from '../rotation/authorities.ts';
import { authoritiesOf, servedSinceOf, type Situation } from './situation.ts';
import { warningsOf } from './warnings.ts';

/** One CA of a ClusterSigner as `show` prints it; times are RFC 3339. */
export interface ShownAuthority {
  readonly fingerprint: string;
  readonly phase: AuthorityPhase;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly longestLeaf: string;
  readonly leavesExpireBy?: string;
  /** Who pins the root of this CA believes its leaves, too. */
  readonly crossSignedBy?: string;
  readonly servedSince?: string;
  /** What time alone does to it next. */
  readonly next?: { readonly what: string; readonly at: string };
}

export interface ShownSigner {
  readonly name: string;
  readonly signerName: string;
  readonly authority: 'managed' | 'secret';
  readonly ready: string;
  readonly authorities: readonly ShownAuthority[];
  readonly warnings: readonly string[];
}

export function shownSigner(situation: Situation): ShownSigner {
  const { metadata, spec, status } = situation.signer;
  const ready = findCondition(status?.conditions, 'Ready');
  return {
    name: metadata.name,
    signerName: spec.signerName,
    authority: spec.authority.managed === undefined ? 'secret' : 'managed',
    ready: ready === undefined ? 'Unknown' : `${ready.status}: ${ready.reason ?? ''}`,
    authorities: authoritiesOf(situation).map((each) => shownAuthority(situation, each)),
    warnings: warningsOf(situation),
  };
}

function shownAuthority(situation: Situation, authority: AuthorityStatus): ShownAuthority {
  const { fingerprint, phase, notBefore, notAfter, longestLeaf } = authority;
  const { leavesExpireBy, crossSignedBy } = authority;
  const since = servedSinceOf(situation, authority);
  const next = nextOf(situation, authority, since);
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
  { signer, propagationSeconds }: Situation,
  { phase, notAfter, leavesExpireBy }: AuthorityStatus,
  since: number | undefined,
): ShownAuthority['next'] {
  if (phase === 'Active') {
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
