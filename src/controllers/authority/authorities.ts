// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '../../api/cluster-signer.ts';
import { formatDuration, parseDuration } from '../../api/duration.ts';
import { formatTime, parseTime } from '../../api/time.ts';
import type { AuthorityFacts } from '../../authorities/contract.ts';
import { writeAnchors } from '../../pki/trust-bundle.ts';

/**
 * How long a CA may go on signing after we saw that it does not: another process hears of it by a
 * watch of its own, which may be half-open (75 s until that shows) or behind by its backoff, and a
 * leaf that was signed may be delivered five minutes later. As long as anchors take to spread.
 */
const LATE_SIGNING_MS = 10 * 60_000;

interface Input {
  readonly signer: ClusterSigner;
  readonly active: AuthorityFacts | undefined;
  readonly now: number;
}

/**
 * `status.authorities` from what it was and what signs now. A CA that stopped signing stays, as
 * Retiring, until the last leaf that it may have signed has expired; while no usable CA is known,
 * nothing is concluded and all stay as they are.
 */
export function currentAuthorities(input: Input): readonly AuthorityStatus[] {
  const { signer, active, now } = input;
  const before = signer.status?.authorities ?? [];
  if (active === undefined) return before;
  const same = before.find((each) => each.fingerprint === active.fingerprint);
  const others = before
    .filter((each) => each !== same)
    .map((each) => retire(each, now))
    .filter((each) => each.leavesExpireBy === undefined || now < parseTime(each.leavesExpireBy));
  return [activeStatus(active, signer, same), ...others];
}

function activeStatus(
  active: AuthorityFacts,
  signer: ClusterSigner,
  before: AuthorityStatus | undefined,
): AuthorityStatus {
  const longest = Math.max(
    parseDuration(signer.spec.profile.maxDuration),
    before === undefined ? 0 : parseDuration(before.longestLeaf),
  );
  return {
    fingerprint: active.fingerprint,
    phase: 'Active',
    notBefore: formatTime(active.notBefore),
    notAfter: formatTime(active.notAfter),
    longestLeaf: formatDuration(longest),
    anchors: writeAnchors(active.anchors),
  };
}

/** An Active CA that no longer signs: its last leaf is made a little later than now at the latest. */
function retire(authority: AuthorityStatus, now: number): AuthorityStatus {
  if (authority.phase !== 'Active') return authority;
  const last = now + LATE_SIGNING_MS + parseDuration(authority.longestLeaf) * 1000;
  const leavesExpireBy = formatTime(Math.min(last, parseTime(authority.notAfter)));
  return { ...authority, phase: 'Retiring', leavesExpireBy };
}

/** When the next of them changes by itself: a Retiring one goes, the Active one expires. */
export function nextDeadline(
  authorities: readonly AuthorityStatus[],
  now: number,
): number | undefined {
  const times = authorities.flatMap((each) =>
    [each.leavesExpireBy, each.notAfter].map((time) => parseTime(time ?? '')),
  );
  const coming = times.filter((time) => time > now);
  return coming.length === 0 ? undefined : Math.min(...coming);
}
