// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { MAX_AUTHORITIES } from '#api/signer/cluster-signer-limits.ts';
import { formatTime } from '#api/object/time.ts';
import type { SignerError } from '#base/errors.ts';
import type { RequestedRotation } from './requested-rotation.ts';
import { allowedDelaySeconds, isTooLate, renewalTime } from './renewal-time.ts';
import { driftOf, rotationReason, type RotationReason } from './rotation-reason.ts';
import type { CaCertificate } from './ca-certificate.ts';
import { type DesiredCa } from './desired-ca.ts';

/** Stands for a fingerprint if `cross.crt` is not a cross-certificate of this CA. */
export const UNREADABLE = 'unreadable';

/** The contents of a managed CA's Secret. */
export interface Slots {
  /** `tls.*`: the CA that signs. An error if it is unusable. */
  readonly active: CaCertificate | SignerError;
  /** `next.*`: the CA that is published. */
  readonly next: CaCertificate | SignerError | undefined;
  readonly activatedAt: number | undefined;
  /**
   * Fingerprint of the CA that certified the key of `active`, or {@link UNREADABLE}. Absent if
   * there is none.
   */
  readonly crossIssuer?: string | undefined;
}

export interface RotationInput {
  readonly desired: DesiredCa;
  readonly requested: RequestedRotation;
  /** `status.authorities` as it is. */
  readonly authorities: readonly AuthorityStatus[];
  readonly isDistrusted: (fingerprint: string) => boolean;
  /** Undefined if there is no Secret. */
  readonly slots: Slots | undefined;
  /** The time in milliseconds since which the CA's anchor is served. Undefined while it is not. */
  readonly servedSince: (held: CaCertificate) => number | undefined;
  readonly propagationSeconds: number;
  /** The lagging targets of trust, as text. Undefined if there are none, or if they are unknown. */
  readonly laggards?: string | undefined;
  /** The longest wait of a successor for them, in seconds after its anchor is published. */
  readonly targetDeadlineSeconds?: number | undefined;
  /** State of the key that waits for its certificate. Absent without an upstream CA. */
  readonly upstream?: UpstreamState | undefined;
  readonly now: number;
}

/**
 * The next action of a rotation with an upstream CA:
 * - `request`: create a key and its request, because there is none that fits the spec.
 * - `wait`: wait for a chain that is accepted.
 * - `install`: use the chain.
 */
export interface UpstreamState {
  readonly next: 'request' | 'wait' | 'install';
  /** The reason why no chain can be used, as text. */
  readonly waitsFor: string;
}

/**
 * The next change of a phase: one write of the Secret.
 * - `make`: create a CA in `tls`, if the present one cannot continue, or in `next`.
 * - `activate`: activate the one in `next`.
 * - `discard`: discard it.
 * - `withdraw`: withdraw the cross-certificate of the signing CA.
 * - `drop`: drop keys of CAs that retired.
 * - `request`: create the key of a CA, for which an upstream CA must sign a certificate.
 * - `install`: use that key with its certificate, in `tls` or in `next`.
 * - `forget`: drop that key, because the spec has no upstream CA any more.
 */
export type RotationStep =
  | {
      readonly kind: 'make';
      readonly slot: 'tls';
      readonly due: RotationReason;
      readonly atOnce: boolean;
    }
  | { readonly kind: 'make'; readonly slot: 'next'; readonly due: RotationReason | undefined }
  | {
      readonly kind: 'request';
      readonly due: RotationReason | undefined;
      /** True if `tls.*` is cleared: its CA is distrusted, so its key was stolen. */
      readonly clears: boolean;
    }
  | {
      readonly kind: 'install';
      readonly slot: 'tls' | 'next';
      readonly due: RotationReason | undefined;
      readonly atOnce: boolean;
    }
  | { readonly kind: 'forget' }
  | { readonly kind: 'activate'; readonly due: RotationReason }
  | { readonly kind: 'discard' }
  | { readonly kind: 'withdraw' }
  | {
      readonly kind: 'drop';
      /** Ids of keys that are useless at any time. */
      readonly atOnce: readonly string[];
      /** Ids of keys whose CA has no living leaf. */
      readonly byTime: readonly string[];
    };

export interface Rotation {
  readonly step: RotationStep | undefined;
  /** The reason to replace the CA. Undefined while there is none. */
  readonly due: RotationReason | undefined;
  /** The condition that a due rotation waits for, as text. */
  readonly waitsFor: string | undefined;
  /** The time in milliseconds at which time alone may change the step. */
  readonly lookAt: number | undefined;
}

/** `status.authorities` must hold these, and the two of the Secret that may follow them. */
const MAX_RETIRING_IN_EMERGENCY = MAX_AUTHORITIES - 3;

/** The next step for a managed CA. Synchronous, total, and the same in every process. */
export function nextStep(input: RotationInput): Rotation {
  const rotation = selfSignedStep(input);
  return input.upstream === undefined ? rotation : throughUpstream(input, input.upstream, rotation);
}

/** Replaces the creation of a CA by its request, the wait for its certificate, and its use. */
function throughUpstream(
  { slots, ...input }: RotationInput,
  { next, waitsFor }: UpstreamState,
  rotation: Rotation,
): Rotation {
  const { step } = rotation;
  if (step?.kind !== 'make') return rotation;
  const active = slots?.active;
  const clears = active !== undefined && !(active instanceof Error) && isUntrusted(input, active);
  // A key that waits beside a stolen one is stolen as well.
  if (next === 'request' || clears) {
    return { ...rotation, step: { kind: 'request', due: step.due, clears } };
  }
  if (next === 'wait') return { ...rotation, step: undefined, waitsFor };
  const { slot, due } = step;
  const atOnce = step.slot === 'tls' && step.atOnce;
  return { ...rotation, step: { kind: 'install', slot, due, atOnce } };
}

/** Reports whether the CA, or each of its anchors, is distrusted. */
function isUntrusted(
  { isDistrusted }: Pick<RotationInput, 'isDistrusted'>,
  { fingerprint, anchors = [] }: CaCertificate,
): boolean {
  return isDistrusted(fingerprint) || (anchors.length > 0 && anchors.every(isDistrusted));
}

/** The step of a CA that signs its own certificate. */
function selfSignedStep(input: RotationInput): Rotation {
  const { slots } = input;
  if (slots === undefined) return replace(input, keyLost(input));
  const { active } = slots;
  if (active instanceof Error) return replaceUnusable(input, active, slots.next);
  if (isUntrusted(input, active)) return replace(input, caDistrusted(active));
  const rotation = rotate(input, slots, active);
  return mustWithdrawCross(input, slots) ? { ...rotation, step: { kind: 'withdraw' } } : rotation;
}

/**
 * Reports whether to withdraw the cross-certificate. Signers deliver none by a distrusted CA. It is
 * removed anyway, because a Secret outlives its ClusterSigner, and verifiers that pin that CA's
 * root would accept it again.
 */
function mustWithdrawCross({ isDistrusted }: RotationInput, { crossIssuer }: Slots): boolean {
  return crossIssuer !== undefined && (crossIssuer === UNREADABLE || isDistrusted(crossIssuer));
}

/**
 * Rotates a CA that signs or will sign: creates its successor, publishes it, waits, activates it.
 */
function rotate(input: RotationInput, slots: Slots, active: CaCertificate): Rotation {
  const { requested, now, propagationSeconds, desired } = input;
  const activatedAt = slots.activatedAt ?? active.bornAt;
  const due = rotationReason({ active, activatedAt, desired, requested, propagationSeconds, now });
  const next = usableNext(input, slots.next);
  if (next !== undefined)
    return due === undefined ? waitForRenewal(input, active) : finish(input, next, due);
  const isInstallable = input.upstream?.next === 'install';
  if (
    due !== undefined ||
    isInstallable ||
    isSuccessorRequested(requested.prepareAt, active, now)
  ) {
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
    // A first CA signs without waiting, as the only one of its bundle. A second one would delay it.
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

/** Signers use the same time, each with its own clock. None must find the CA too young. */
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
 * Returns until when lagging targets delay a rotation, in milliseconds. Undefined if none does, or
 * if its reason cannot wait. The delay never exceeds the allowed delay of a CA, so that a
 * permanently broken target does not shorten leaves.
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

/**
 * Returns when every kubelet has the CA's anchor, in milliseconds. Undefined while it is not
 * published.
 */
function propagatedAt(
  { servedSince, propagationSeconds }: RotationInput,
  of: CaCertificate,
): number | undefined {
  const since = servedSince(of);
  return since === undefined ? undefined : since + propagationSeconds * 1000;
}

/**
 * Replaces a CA in `tls.*` that cannot sign. The prepared CA takes over if it is usable, else a new
 * CA.
 */
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

/**
 * Plans a new CA that replaces the signing one. It signs at once only if that one is distrusted.
 */
function replace(input: RotationInput, due: RotationReason): Rotation {
  const waitsFor = roomProblem(input, MAX_RETIRING_IN_EMERGENCY);
  const atOnce = compromiseOf(input) === 'distrusted';
  const step: RotationStep = { kind: 'make', slot: 'tls', due, atOnce };
  return { step: waitsFor === undefined ? step : undefined, due, waitsFor, lookAt: undefined };
}

function keyLost({ authorities }: RotationInput): RotationReason {
  const message =
    authorities.length === 0
      ? 'there is no CA yet'
      : 'the Secret with the CA’s key was deleted or emptied';
  return { reason: 'KeyLost', message, canWait: false };
}

function caDistrusted({ fingerprint }: CaCertificate): RotationReason {
  const message = `spec.authority.managed.distrusted names ${fingerprint}`;
  return { reason: 'Distrusted', message, canWait: false };
}

/**
 * Reports whether the CA that signs, or last signed, is distrusted. A CA that was prepared beside
 * it was in the same Secret: a thief of one key has the other.
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

/** Returns the prepared CA if it is usable, matches the spec, and has its life before it. */
function usableNext(
  { desired, isDistrusted, propagationSeconds, now }: RotationInput,
  next: Slots['next'],
): CaCertificate | undefined {
  if (next === undefined || next instanceof Error) return undefined;
  if (isUntrusted({ isDistrusted }, next) || driftOf(next, desired) !== undefined) {
    return undefined;
  }
  return isTooLate(next, desired, propagationSeconds, now) ? undefined : next;
}

/** Reports whether a user requested a successor that was not created since. */
function isSuccessorRequested(
  prepareAt: number | undefined,
  active: CaCertificate,
  now: number,
): boolean {
  return prepareAt !== undefined && prepareAt <= now && active.bornAt < prepareAt;
}

/**
 * Returns the problem if the limit is reached. Old CAs stay trusted while their leaves are valid,
 * so a rotation then waits.
 */
function roomProblem({ authorities }: RotationInput, most: number): string | undefined {
  const old = authorities.filter(({ phase }) => phase === 'Retiring').length;
  return old < most
    ? undefined
    : `${old} old CAs are still trusted because their leaves may be valid`;
}
