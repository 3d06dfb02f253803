// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isOwned } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import { PENDING_KEY } from '#api/signer/rotation-annotations.ts';
import type { CaCertificate } from '#ca/rotation/ca-certificate.ts';
import { hasCa } from '#requests/ca/usable-authority.ts';
import { requestedRotationOf } from '#ca/rotation/requested-rotation.ts';
import { renewalTime } from '#ca/rotation/renewal-time.ts';
import {
  nextStep,
  type Rotation,
  type RotationInput,
  type RotationStep,
  type Slots,
} from '#ca/rotation/next-step.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { desiredCaOf } from '#ca/rotation/desired-ca.ts';
import type { Observation } from './observe.ts';
import { servedSinceOf } from './activation-time.ts';
import { droppedKeys, keepsRetiredKeys, retiredKeysOf } from './retired-keys.ts';
import { slotsOf } from './slots.ts';
import type { SignerSnapshot } from './snapshot.ts';
import { upstreamOf, type UpstreamFinding } from './upstream.ts';
import * as messages from '../messages.ts';

/** State of the rotation of a managed CA. */
export interface ManagedRotation extends Rotation {
  /** True if we created the Secret for this very ClusterSigner. Others are never written. */
  readonly isManaged: boolean;
  /** True if a write is due but the Secret is immutable. */
  readonly isImmutable: boolean;
  /** Time in milliseconds at which a rotation is due by time alone. */
  readonly deadline: number | undefined;
  /** Undefined if the CA signs its own certificate. */
  readonly upstream: UpstreamFinding | undefined;
  /** The CA in `tls.*`, if it can sign. */
  readonly active: CaCertificate | undefined;
}

/** @returns undefined if there is nothing to rotate, or too little is known */
export function managedRotation(
  snapshot: SignerSnapshot,
  finding: Observation,
): ManagedRotation | undefined {
  const { signer, secret, now, propagationSeconds } = snapshot;
  const desired = desiredCaOf(signer.spec);
  if (desired === undefined || !finding.inspected || secret.kind === 'unknown') return undefined;
  const found = foundSecret(snapshot);
  const slots = slotsIn(snapshot, found);
  const upstream = upstreamOf(snapshot, found);
  const input: RotationInput = {
    desired,
    requested: requestedRotationOf(signer),
    slots,
    authorities: signer.status?.authorities ?? [],
    isDistrusted: distrustedCas(signer),
    servedSince: (held) => servedSinceOf(snapshot, held),
    propagationSeconds,
    laggards: snapshot.serving?.laggards,
    targetDeadlineSeconds: snapshot.targetDeadlineSeconds,
    upstream: upstream?.state,
    now,
  };
  const next = withoutOldKeys(snapshot, input, nextStep(input));
  const rotation = {
    ...withoutPendingKey(found, upstream, next),
    deadline: deadlineOf(input),
    upstream,
    active: usableActive(slots),
  };
  const timely = snapshot.clocksApart ? withoutClockSteps(rotation) : rotation;
  return secret.kind === 'missing'
    ? { ...timely, isManaged: true, isImmutable: false }
    : withoutForbiddenStep(timely, secret.secret, signer);
}

function foundSecret({ secret }: SignerSnapshot): Secret | undefined {
  return secret.kind === 'found' ? secret.secret : undefined;
}

function slotsIn({ inspect, now }: SignerSnapshot, secret: Secret | undefined): Slots | undefined {
  return secret !== undefined && hasCa(secret) ? slotsOf(secret, inspect, now) : undefined;
}

function usableActive(slots: Slots | undefined): CaCertificate | undefined {
  return slots === undefined || slots.active instanceof Error ? undefined : slots.active;
}

/** Drops the key that waits for a certificate when the spec has no upstream CA any more. */
function withoutPendingKey(
  secret: Secret | undefined,
  upstream: UpstreamFinding | undefined,
  rotation: Rotation,
): Rotation {
  const isPending = secret?.data?.[PENDING_KEY] !== undefined;
  if (!isPending || upstream !== undefined || rotation.step !== undefined) return rotation;
  return { ...rotation, step: { kind: 'forget' } };
}

/** Drops keys that no CRL needs any more when no other step is due. */
function withoutOldKeys(
  { signer, secret }: SignerSnapshot,
  { slots, authorities, isDistrusted, now }: RotationInput,
  rotation: Rotation,
): Rotation {
  if (secret.kind !== 'found' || slots === undefined || slots.active instanceof Error) {
    return rotation;
  }
  const retired = retiredKeysOf(secret.secret);
  const isWanted = keepsRetiredKeys(signer);
  const active = slots.active.fingerprint;
  const dropped = droppedKeys({ retired, isWanted, authorities, active, isDistrusted, now });
  const { atOnce, byTime } = dropped;
  if (rotation.step === undefined && atOnce.length + byTime.length > 0) {
    return { ...rotation, step: { kind: 'drop', atOnce, byTime } };
  }
  const times = [rotation.lookAt, dropped.lookAt].filter((each) => each !== undefined);
  return times.length === 0 ? rotation : { ...rotation, lookAt: Math.min(...times) };
}

/**
 * Removes steps that depend on time while two clocks contradict each other. A CA that the wrong
 * clock creates, replaces or activates has the wrong year. Distrust does not wait.
 */
function withoutClockSteps<T extends Rotation>(rotation: T): T {
  const { step } = rotation;
  if (step === undefined || isByDistrust(step)) return rotation;
  if (step.kind === 'drop') {
    const { atOnce } = step;
    return { ...rotation, step: atOnce.length === 0 ? undefined : { ...step, byTime: [] } };
  }
  const waitsFor = messages.CLOCKS_APART;
  return { ...rotation, step: undefined, waitsFor };
}

function isByDistrust(step: RotationStep): boolean {
  if (step.kind === 'withdraw') return true;
  if (step.kind === 'request') return step.clears;
  if (step.kind === 'install') return step.slot === 'tls' && step.atOnce;
  return step.kind === 'make' && step.slot === 'tls' && step.atOnce;
}

/** Returns the rotation without its step if the Secret must not or cannot be written. */
function withoutForbiddenStep(
  rotation: Omit<ManagedRotation, 'isManaged' | 'isImmutable'>,
  secret: Secret,
  { metadata }: ClusterSigner,
): ManagedRotation {
  if (!isOwned(secret, metadata.uid)) {
    const waitsFor = messages.SECRET_NOT_OWNED;
    return { ...rotation, isManaged: false, isImmutable: false, step: undefined, waitsFor };
  }
  const isImmutable = rotation.step !== undefined && secret.immutable === true;
  if (!isImmutable) return { ...rotation, isManaged: true, isImmutable };
  const waitsFor = messages.SECRET_IMMUTABLE;
  return { ...rotation, isManaged: true, isImmutable, step: undefined, waitsFor };
}

/** Returns when a rotation is due by age or by the requested time. */
function deadlineOf({
  slots,
  desired,
  requested,
  propagationSeconds,
  now,
}: RotationInput): number | undefined {
  const asking =
    requested.rotateAt !== undefined && requested.rotateAt > now ? [requested.rotateAt] : [];
  if (slots === undefined || slots.active instanceof Error) return asking[0];
  return Math.min(renewalTime(slots.active, desired, propagationSeconds).at, ...asking);
}
