// SPDX-License-Identifier: Apache-2.0
import type { AuthorityPhase, AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { MAX_AUTHORITIES } from '#api/signer/cluster-signer-limits.ts';
import { formatDuration, parseDuration } from '#api/object/duration.ts';
import { formatTime, parseTime } from '#api/object/time.ts';

/**
 * The time for which a CA may continue to sign after this process saw it stop. Another process
 * learns it from its own watch, which may be half-open (75 s until that is detected) or in backoff.
 * A signed leaf may be delivered five minutes later. It is as long as the propagation of anchors.
 */
export const LATE_SIGNING_MS = 10 * 60_000;

/**
 * The time for which an anchor stays after its last leaf has expired. A verifier whose clock is
 * slow still accepts the leaf. The API server allows the same five minutes for a
 * PodCertificateRequest's notBefore.
 */
export const RETIRING_MARGIN_MS = 5 * 60_000;

/** The public half of a CA in a Secret. */
export interface PublicHalf {
  readonly fingerprint: string;
  /** Milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM of the trust anchors. Undefined if they are not published. */
  readonly anchors?: string;
  /** The longest leaf that it may have signed before, in case its entry is lost. */
  readonly longestLeafSeconds?: number | undefined;
  /**
   * Fingerprint of the CA that certified its key. Undefined if there is none, or if leaves are
   * delivered without the cross-certificate.
   */
  readonly crossSignedBy?: string | undefined;
}

export interface AuthoritiesInput {
  readonly before: readonly AuthorityStatus[];
  /** The CA in `tls.*`. Undefined if no CA there can sign. */
  readonly current: (PublicHalf & { readonly signs: boolean }) | undefined;
  /** The CA in `next.*`. */
  readonly next: PublicHalf | undefined;
  readonly isDistrusted: (fingerprint: string) => boolean;
  /** The longest leaf of the present profile. */
  readonly longestLeafSeconds: number;
  /**
   * True if the local clock contradicts the API server's. No CA then ends by time, only by
   * distrust.
   */
  readonly clocksApart: boolean;
  readonly now: number;
}

/**
 * Returns `status.authorities` from the previous one and the contents of the Secret. A CA that
 * stopped signing stays, as Retiring, until the last leaf that it may have signed has expired.
 * While no usable CA is known, nothing is concluded and all stay as they are.
 */
export function nextAuthorities(input: AuthoritiesInput): readonly AuthorityStatus[] {
  const { before, current, next, now } = input;
  const present = [
    ...(current === undefined ? [] : [entryOf(input, current, phaseOfCurrent(input, current))]),
    ...(next === undefined ? [] : [entryOf(input, next, 'Prepared')]),
  ];
  const names = new Set(present.map(({ fingerprint }) => fingerprint));
  const others = before
    .filter(({ fingerprint }) => !names.has(fingerprint))
    .filter((each) => !isPreparedBesideDistrusted(input, each))
    .map((each) => absentEntry(input, each))
    .filter((each) => input.clocksApart || !isRemovable(each, now));
  return [...present, ...others].sort(inOrder).slice(0, MAX_AUTHORITIES);
}

/**
 * Returns the phase of the current CA. The first CA of a signer is Active at once, another one only
 * when all kubelets have its anchor.
 */
function phaseOfCurrent(
  { before }: AuthoritiesInput,
  { fingerprint, signs }: PublicHalf & { readonly signs: boolean },
): AuthorityPhase {
  const known = before.find((each) => each.fingerprint === fingerprint);
  const isFirst = before.every((each) => each.fingerprint === fingerprint);
  return signs || isFirst || known?.phase === 'Active' ? 'Active' : 'Prepared';
}

function entryOf(
  input: AuthoritiesInput,
  half: PublicHalf,
  phase: AuthorityPhase,
): AuthorityStatus {
  const { fingerprint, notBefore, notAfter, anchors } = half;
  const known = input.before.find((each) => each.fingerprint === fingerprint);
  // A cross-certificate stays valid for verifiers that have it, even if signers no longer deliver
  // it.
  const crossSignedBy = half.crossSignedBy ?? known?.crossSignedBy;
  return {
    fingerprint,
    phase,
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notAfter),
    longestLeaf: longest(input, known ?? lostEntry(half)),
    ...(crossSignedBy === undefined ? {} : { crossSignedBy }),
    ...(anchors === undefined ? {} : { anchors }),
  };
}

function lostEntry({ longestLeafSeconds = 0 }: PublicHalf): Pick<AuthorityStatus, 'longestLeaf'> {
  return { longestLeaf: formatDuration(longestLeafSeconds) };
}

function longest(
  { longestLeafSeconds }: AuthoritiesInput,
  known: Pick<AuthorityStatus, 'longestLeaf'>,
): string {
  return formatDuration(Math.max(longestLeafSeconds, parseDuration(known.longestLeaf)));
}

/** Returns the entry of a CA that the Secret does not hold, or no longer holds. */
function absentEntry(input: AuthoritiesInput, known: AuthorityStatus): AuthorityStatus {
  if (input.isDistrusted(known.fingerprint)) return endSigning(known, 'Distrusted', input.now);
  if (input.clocksApart || (known.phase === 'Active' && input.current?.signs !== true)) {
    // Until the CA in tls.* may sign, signers that still hold the previous CA sign with that one.
    // Its anchor stays even if it has expired: the new CA is then not the bundle's only anchor and
    // must propagate.
    return { ...known, longestLeaf: longest(input, known) };
  }
  if (input.current === undefined && known.leavesExpireBy === undefined) return known;
  return endSigning(known, 'Retiring', input.now);
}

/**
 * Returns the time by which the CA had stopped signing, in milliseconds since the epoch. Leaves
 * issued later are from another CA. Undefined while it signs, and if its notAfter bounds
 * `leavesExpireBy`, which then does not show it.
 */
export function stoppedSigningBy({
  leavesExpireBy,
  longestLeaf,
  notAfter,
}: AuthorityStatus): number | undefined {
  if (leavesExpireBy === undefined || parseTime(leavesExpireBy) >= parseTime(notAfter)) {
    return undefined;
  }
  return parseTime(leavesExpireBy) - parseDuration(longestLeaf) * 1000;
}

/** Ends a CA's signing. It issues its last leaf shortly after now at the latest. */
function endSigning(known: AuthorityStatus, phase: AuthorityPhase, now: number): AuthorityStatus {
  if (known.leavesExpireBy !== undefined) return { ...known, phase };
  const last = now + LATE_SIGNING_MS + parseDuration(known.longestLeaf) * 1000;
  const leavesExpireBy = formatTime(Math.min(last, parseTime(known.notAfter)));
  return { ...known, phase, leavesExpireBy };
}

/**
 * Reports whether the CA was prepared in the Secret of a distrusted CA. A thief of one key has the
 * other.
 */
function isPreparedBesideDistrusted(
  { before, isDistrusted }: AuthoritiesInput,
  known: AuthorityStatus,
): boolean {
  if (known.phase !== 'Prepared') return false;
  const active = before.find(({ phase }) => phase === 'Active');
  return active !== undefined && isDistrusted(active.fingerprint);
}

function isRemovable({ leavesExpireBy }: AuthorityStatus, now: number): boolean {
  return leavesExpireBy !== undefined && now >= removalTime(leavesExpireBy);
}

function removalTime(leavesExpireBy: string): number {
  return parseTime(leavesExpireBy) + RETIRING_MARGIN_MS;
}

const ORDER: Readonly<Record<AuthorityPhase, number>> = {
  Active: 0,
  Prepared: 1,
  Retiring: 2,
  Distrusted: 3,
};

/**
 * Sorts the signing CA first, then the newest first. The fingerprint decides between equal ones.
 */
function inOrder(a: AuthorityStatus, b: AuthorityStatus): number {
  return (
    ORDER[a.phase] - ORDER[b.phase] ||
    parseTime(b.notBefore) - parseTime(a.notBefore) ||
    (a.fingerprint < b.fingerprint ? -1 : 1)
  );
}

/**
 * Returns when the next entry of `status.authorities` changes by time alone, because it is removed
 * or its CA expires: milliseconds, later than `now`. Undefined if none will.
 */
export function nextRemovalOrExpiry(
  authorities: readonly AuthorityStatus[],
  now: number,
): number | undefined {
  const coming = authorities
    .flatMap(({ leavesExpireBy, notAfter }) => [
      ...(leavesExpireBy === undefined ? [] : [removalTime(leavesExpireBy)]),
      parseTime(notAfter),
    ])
    .filter((time) => time > now);
  return coming.length === 0 ? undefined : Math.min(...coming);
}
