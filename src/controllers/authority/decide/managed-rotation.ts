// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { isOwned } from '../../../api/signer/grant.ts';
import type { Secret } from '../../../api/object/object.ts';
import { requestedRotationOf } from '../../../rotation/requested-rotation.ts';
import { renewalTime } from '../../../rotation/renewal-time.ts';
import {
  nextStep,
  type Rotation,
  type RotationInput,
  type RotationStep,
} from '../../../rotation/next-step.ts';
import { distrustedCas } from '../../../rotation/distrusted-cas.ts';
import { desiredCaOf } from '../../../rotation/desired-ca.ts';
import type { Observation } from './observe.ts';
import { servedSinceOf } from './activation-time.ts';
import { droppedKeys, keepsRetiredKeys, retiredKeysOf } from './retired-keys.ts';
import { slotsOf } from './slots.ts';
import type { SignerSnapshot } from './snapshot.ts';

/** The state of the rotation of a managed CA. */
export interface ManagedRotation extends Rotation {
  /** Whether we created the Secret, for this very ClusterSigner; others are never written. */
  readonly isOurs: boolean;
  /** A write is due but impossible: the API server accepts no change of such a Secret. */
  readonly isImmutable: boolean;
  /** When a rotation is due by time alone, in milliseconds. */
  readonly deadline: number | undefined;
}

/** @returns undefined if there is nothing to rotate, or too little is known */
export function managedRotation(
  snapshot: SignerSnapshot,
  finding: Observation,
): ManagedRotation | undefined {
  const { signer, secret, now, propagationSeconds } = snapshot;
  const desired = desiredCaOf(signer.spec);
  if (desired === undefined || !finding.inspected || secret.kind === 'unknown') return undefined;
  const slots = secret.kind === 'found' ? slotsOf(secret.secret, snapshot.inspect, now) : undefined;
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
    now,
  };
  const next = withoutOldKeys(snapshot, input, nextStep(input));
  const rotation = { ...next, deadline: deadlineOf(input) };
  const timely = snapshot.clocksApart ? withoutClockSteps(rotation) : rotation;
  return secret.kind === 'missing'
    ? { ...timely, isOurs: true, isImmutable: false }
    : mayWrite(timely, secret.secret, signer);
}

/** Keys that no CRL needs any more go when nothing else is to be done. */
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
 * While two clocks contradict each other one of them is wrong, and no process can know which. A CA that the
 * wrong clock creates, replaces or activates has the wrong year. So rotation waits; distrust does not.
 */
function withoutClockSteps<T extends Rotation>(rotation: T): T {
  const { step } = rotation;
  if (step === undefined || isByDistrust(step)) return rotation;
  if (step.kind === 'drop') {
    const { atOnce } = step;
    return { ...rotation, step: atOnce.length === 0 ? undefined : { ...step, byTime: [] } };
  }
  const waitsFor =
    'the clocks of this process and of the API server differ too much; correct the wrong one';
  return { ...rotation, step: undefined, waitsFor };
}

function isByDistrust(step: RotationStep): boolean {
  if (step.kind === 'withdraw') return true;
  return step.kind === 'make' && step.slot === 'tls' && step.atOnce;
}

/** Without a step if the Secret must not be written, or cannot be. */
function mayWrite(
  rotation: Omit<ManagedRotation, 'isOurs' | 'isImmutable'>,
  secret: Secret,
  { metadata }: ClusterSigner,
): ManagedRotation {
  if (!isOwned(secret, metadata.uid)) {
    const waitsFor =
      'its Secret was not created for this ClusterSigner, so Countersign does not write it';
    return { ...rotation, isOurs: false, isImmutable: false, step: undefined, waitsFor };
  }
  const isImmutable = rotation.step !== undefined && secret.immutable === true;
  if (!isImmutable) return { ...rotation, isOurs: true, isImmutable };
  const waitsFor = 'its Secret is immutable';
  return { ...rotation, isOurs: true, isImmutable, step: undefined, waitsFor };
}

/** Due by age, or by the requested time. */
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
