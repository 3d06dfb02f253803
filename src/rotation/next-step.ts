// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../api/signer/cluster-signer.ts';
import { MAX_AUTHORITIES } from '../api/signer/cluster-signer-limits.ts';
import { formatTime } from '../api/object/time.ts';
import type { SignerError } from '../errors.ts';
import type { RequestedRotation } from './requested-rotation.ts';
import { allowedDelaySeconds, isTooLate, renewalTime } from './renewal-time.ts';
import { driftOf, rotationReason, type RotationReason } from './rotation-reason.ts';
import type { CaCertificate } from './ca-certificate.ts';
import { type DesiredCa } from './desired-ca.ts';

/** Replaces a fingerprint if `cross.crt` is not a cross-certificate of this CA. */
export const UNREADABLE = 'unreadable';

/** What a managed CA's Secret holds. */
export interface Slots {
  /** `tls.*`: signs. An error where it cannot be used. */
  readonly active: CaCertificate | SignerError;
  /** `next.*`: is published. */
  readonly next: CaCertificate | SignerError | undefined;
  readonly activatedAt: number | undefined;
  /** Fingerprint of the CA that certified the key of `active`, or {@link UNREADABLE}; absent: none did. */
  readonly crossIssuer?: string | undefined;
}

export interface RotationInput {
  readonly desired: DesiredCa;
  readonly requested: RequestedRotation;
  /** `status.authorities` as it is. */
  readonly authorities: readonly AuthorityStatus[];
  readonly isDistrusted: (fingerprint: string) => boolean;
  /** Undefined where there is no Secret. */
  readonly slots: Slots | undefined;
  /** Milliseconds since when the CA's anchor is served; undefined while it is not. */
  readonly servedSince: (held: CaCertificate) => number | undefined;
  readonly propagationSeconds: number;
  /** Targets of trust that do not have what is published, in words; absent: none, or nobody says. */
  readonly laggards?: string | undefined;
  /** How long after its anchor is published a successor waits for them at most; seconds. */
  readonly targetDeadlineSeconds?: number | undefined;
  readonly now: number;
}

/**
 * The next change of a phase: one write of the Secret. `make` a CA into `tls`, where the one that is
 * there cannot go on, or into `next`; `activate` the one in `next`; `discard` it; `withdraw` the
 * cross-certificate of the one that signs; `drop` keys of CAs that retired.
 */
export type RotationStep =
  | {
      readonly kind: 'make';
      readonly slot: 'tls';
      readonly due: RotationReason;
      readonly atOnce: boolean;
    }
  | { readonly kind: 'make'; readonly slot: 'next'; readonly due: RotationReason | undefined }
  | { readonly kind: 'activate'; readonly due: RotationReason }
  | { readonly kind: 'discard' }
  | { readonly kind: 'withdraw' }
  | {
      readonly kind: 'drop';
      /** Ids of keys that are of no more use, whatever the time is. */
      readonly atOnce: readonly string[];
      /** Ids of keys whose CA has no living leaf. */
      readonly byTime: readonly string[];
    };

export interface Rotation {
  readonly step: RotationStep | undefined;
  /** Why the CA is to be replaced; undefined while it is not. */
  readonly due: RotationReason | undefined;
  /** What a due rotation waits for, in words. */
  readonly waitsFor: string | undefined;
  /** Milliseconds: when time alone may change the step. */
  readonly lookAt: number | undefined;
}

/** `status.authorities` must hold these, and the two of the Secret that may follow them. */
const MAX_RETIRING_IN_EMERGENCY = MAX_AUTHORITIES - 3;

/** The next step for a managed CA. Synchronous, total, and the same in every process. */
export function nextStep(input: RotationInput): Rotation {
  const { slots } = input;
  if (slots === undefined) return replace(input, keyLost(input));
  const { active } = slots;
  if (active instanceof Error) return replaceUnusable(input, active, slots.next);
  if (input.isDistrusted(active.fingerprint)) return replace(input, caDistrusted(active));
  const rotation = rotate(input, slots, active);
  return mustWithdrawCross(input, slots) ? { ...rotation, step: { kind: 'withdraw' } } : rotation;
}

/**
 * Signers send no cross-certificate by a CA that is distrusted. It goes for good all the same, because
 * a Secret outlives its ClusterSigner, and verifiers that pin that CA's root would accept it again.
 */
function mustWithdrawCross({ isDistrusted }: RotationInput, { crossIssuer }: Slots): boolean {
  return crossIssuer !== undefined && (crossIssuer === UNREADABLE || isDistrusted(crossIssuer));
}

/** The CA signs, or will: its successor is made, published, waited for, activated. */
function rotate(input: RotationInput, slots: Slots, active: CaCertificate): Rotation {
  const { requested, now, propagationSeconds, desired } = input;
  const activatedAt = slots.activatedAt ?? active.bornAt;
  const due = rotationReason({ active, activatedAt, desired, requested, propagationSeconds, now });
  const next = usableNext(input, slots.next);
  if (next !== undefined)
    return due === undefined ? waitForRenewal(input, active) : finish(input, next, due);
  if (due !== undefined || isSuccessorRequested(requested.prepareAt, active, now)) {
    return begin(input, active, due);
  }
  const step: RotationStep | undefined = slots.next === undefined ? undefined : { kind: 'discard' };
  return { ...waitForRenewal(input, active), step };
}

function waitForRenewal(
  { requested, now, propagationSeconds, desired }: RotationInput,
  active: CaCertificate,
): Rotation {
  const { at } = renewalTime(active, desired, propagationSeconds);
  const coming = [at, requested.rotateAt, requested.prepareAt].filter(
    (time): time is number => time !== undefined && time > now,
  );
  const lookAt = coming.length === 0 ? undefined : Math.min(...coming);
  return { step: undefined, due: undefined, waitsFor: undefined, lookAt };
}

function begin(
  input: RotationInput,
  active: CaCertificate,
  due: RotationReason | undefined,
): Rotation {
  const waiting = { step: undefined, due, waitsFor: undefined, lookAt: undefined };
  if (due?.canWait !== false) {
    // A first CA signs without waiting, as the only one of its bundle; a second would hold it up.
    const settled = propagatedAt(input, active);
    if (settled === undefined || input.now < settled) {
      const waitsFor = 'the active CA has not been published for the propagation time yet';
      return { ...waiting, waitsFor, lookAt: settled };
    }
  }
  const most = due?.canWait === false ? MAX_RETIRING_IN_EMERGENCY : input.desired.maxRetiring;
  const waitsFor = roomProblem(input, most);
  if (waitsFor !== undefined) return { ...waiting, waitsFor };
  return { ...waiting, step: { kind: 'make', slot: 'next', due } };
}

/** Signers go by the same time, and each by a clock of its own: none is to find the CA too young. */
const CLOCK_GRAIN_MS = 2_000;

function finish(input: RotationInput, next: CaCertificate, due: RotationReason): Rotation {
  const served = propagatedAt(input, next);
  const waiting = { step: undefined, due };
  if (served === undefined) {
    const waitsFor =
      'its successor is not in the published bundle yet; check that the attester is running';
    return { ...waiting, waitsFor, lookAt: undefined };
  }
  const from = served + CLOCK_GRAIN_MS;
  if (input.now < from) {
    const waitsFor = 'its successor’s anchor has not been published for the propagation time yet';
    return { ...waiting, waitsFor, lookAt: from };
  }
  const until = laggardsUntil(input, next, due, from);
  if (until !== undefined && input.now < until) {
    const waitsFor = `targets of trust do not have its anchor, at most until ${formatTime(until)}: ${input.laggards ?? ''}`;
    return { ...waiting, waitsFor, lookAt: until };
  }
  return { ...waiting, step: { kind: 'activate', due }, waitsFor: undefined, lookAt: undefined };
}

/**
 * Until when targets that lag hold a rotation up, in milliseconds; undefined where none does, or its reason cannot wait.
 * Never longer than a CA may be late, so that no leaf is cut short for a target that is broken for ever.
 */
function laggardsUntil(
  { laggards, targetDeadlineSeconds = 0, propagationSeconds }: RotationInput,
  next: CaCertificate,
  { canWait }: RotationReason,
  from: number,
): number | undefined {
  if (laggards === undefined || !canWait) return undefined;
  const beyond = Math.max(0, targetDeadlineSeconds - propagationSeconds);
  return from + Math.min(beyond, allowedDelaySeconds(next)) * 1000;
}

/** When every kubelet has the CA's anchor, in milliseconds; undefined while it is not published. */
function propagatedAt(
  { servedSince, propagationSeconds }: RotationInput,
  of: CaCertificate,
): number | undefined {
  const since = servedSince(of);
  return since === undefined ? undefined : since + propagationSeconds * 1000;
}

/** The CA in `tls.*` cannot sign. The prepared CA takes over where it is usable, else a new CA. */
function replaceUnusable(
  input: RotationInput,
  error: SignerError,
  inNext: Slots['next'],
): Rotation {
  const due: RotationReason = { reason: 'KeyUnusable', message: error.message, canWait: false };
  const isFit = usableNext(input, inNext) !== undefined && compromiseOf(input) !== 'distrusted';
  if (!isFit) return replace(input, due);
  return { step: { kind: 'activate', due }, due, waitsFor: undefined, lookAt: undefined };
}

/** A new CA that replaces the one that signed. It signs at once only if that one is distrusted. */
function replace(input: RotationInput, due: RotationReason): Rotation {
  const waitsFor = roomProblem(input, MAX_RETIRING_IN_EMERGENCY);
  const atOnce = compromiseOf(input) === 'distrusted';
  const step: RotationStep = { kind: 'make', slot: 'tls', due, atOnce };
  return { step: waitsFor === undefined ? step : undefined, due, waitsFor, lookAt: undefined };
}

function keyLost({ authorities }: RotationInput): RotationReason {
  const message =
    authorities.length === 0 ? 'there is no CA yet' : 'the Secret with the CA’s key was deleted';
  return { reason: 'KeyLost', message, canWait: false };
}

function caDistrusted({ fingerprint }: CaCertificate): RotationReason {
  const message = `spec.authority.managed.distrusted names ${fingerprint}`;
  return { reason: 'Distrusted', message, canWait: false };
}

/**
 * Whether the CA that signs, or last signed, is distrusted. One that was prepared beside it lay in
 * the same Secret: a thief of one key has the other.
 */
function compromiseOf({
  authorities,
  slots,
  isDistrusted,
}: RotationInput): 'distrusted' | 'trusted' {
  const inTls = slots === undefined || slots.active instanceof Error ? [] : [slots.active];
  const signing = authorities.filter(
    ({ phase, fingerprint }) => phase === 'Active' || isDistrusted(fingerprint),
  );
  const leads = inTls.length > 0 ? inTls : signing;
  const all = leads.length > 0 && leads.every(({ fingerprint }) => isDistrusted(fingerprint));
  return all ? 'distrusted' : 'trusted';
}

/** The prepared CA, where it can be used, is the one that is wanted, and has its life before it. */
function usableNext(
  { desired, isDistrusted, propagationSeconds, now }: RotationInput,
  next: Slots['next'],
): CaCertificate | undefined {
  if (next === undefined || next instanceof Error) return undefined;
  if (isDistrusted(next.fingerprint) || driftOf(next, desired) !== undefined) return undefined;
  return isTooLate(next, desired, propagationSeconds, now) ? undefined : next;
}

/** A successor made since is asked for, and neither is there. */
function isSuccessorRequested(
  prepareAt: number | undefined,
  active: CaCertificate,
  now: number,
): boolean {
  return prepareAt !== undefined && prepareAt <= now && active.bornAt < prepareAt;
}

/** Old CAs stay trusted while their leaves are valid: if the limit is reached, a rotation waits. */
function roomProblem({ authorities }: RotationInput, most: number): string | undefined {
  const old = authorities.filter(({ phase }) => phase === 'Retiring').length;
  return old < most
    ? undefined
    : `${old} old CAs are still trusted because their leaves may be valid`;
}
