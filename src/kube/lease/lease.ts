// SPDX-License-Identifier: Apache-2.0
import type { ManagedFieldsEntry } from '../protobuf/object-meta.ts';
import { resource } from '../resource/resource.ts';
import { microTime } from '../resource/json.ts';
import type { StoredObject } from '../resource/object.ts';

/** `coordination.k8s.io/v1` Lease, reduced to the fields in use. */
export interface Lease extends StoredObject {
  readonly metadata: StoredObject['metadata'] & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly ManagedFieldsEntry[];
  };
  readonly spec?: LeaseSpec;
}

/**
 * The spec of a Lease. If `holderIdentity` is absent or empty, the Lease was released, and any
 * candidate may acquire it.
 */
export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** `metav1.MicroTime` of the holder's clock: for people to read, never compared. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export const LEASES = resource({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
});

/**
 * The upper limit of a duration. No component requests more, and a forged Lease must not count for
 * years.
 */
export const MAX_LEASE_SECONDS = 300;

/**
 * Returns the milliseconds for which a Lease counts after its last observed change, or 0 if it is
 * not held.
 */
export function leaseMilliseconds({ spec }: Lease): number {
  if (holderOf(spec) === undefined) return 0;
  const seconds = spec?.leaseDurationSeconds ?? 0;
  return Math.max(0, Math.min(seconds, MAX_LEASE_SECONDS)) * 1000;
}

/** Returns the holder's identity, or undefined if the Lease is not held. */
export function holderOf(spec: LeaseSpec | undefined): string | undefined {
  const holder = spec?.holderIdentity;
  return holder === undefined || holder === '' ? undefined : holder;
}

/**
 * The limit of `leaseTransitions`, an int32. With one more the API server would reject every write,
 * so a Lease that was forged once could never be acquired again.
 */
const MAX_TRANSITIONS = 2 ** 31 - 1;

/**
 * Returns the spec with which `identity` acquires a Lease, or renews its own. @param now - the
 * local clock
 */
export function heldSpec(
  before: LeaseSpec | undefined,
  { identity, durationSeconds }: { readonly identity: string; readonly durationSeconds: number },
  now: number,
): LeaseSpec {
  const time = microTime(now);
  const renewed = holderOf(before) === identity;
  const transitions = (before?.leaseTransitions ?? 0) + Number(before !== undefined && !renewed);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: durationSeconds,
    acquireTime: (renewed ? before?.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: Math.min(transitions, MAX_TRANSITIONS),
  };
}

/**
 * Returns the spec of a released Lease as client-go writes it, so that its electors agree. @param
 * now - the local clock
 */
export function releasedSpec({ leaseTransitions = 0 }: LeaseSpec, now: number): LeaseSpec {
  const time = microTime(now);
  return { leaseDurationSeconds: 1, acquireTime: time, renewTime: time, leaseTransitions };
}

/** The durations of a Lease and its renewal. */
export interface LeaseTimes {
  /** `spec.leaseDurationSeconds`: others wait this long after the last change that they saw. */
  readonly durationSeconds: number;
  /**
   * Milliseconds for which the holder acts on a renewal after sending it (client-go:
   * RenewDeadline). It is shorter than the duration: the rates of clocks may differ by the quotient
   * of both.
   */
  readonly deadlineMs: number;
  /** Milliseconds between attempts, successful or not (client-go: RetryPeriod). */
  readonly periodMs: number;
}

/** The value of kube-controller-manager's `--leader-elect-lease-duration`. */
export const DEFAULT_LEASE_SECONDS = 15;

/** The lower limit. Below it, a slow API server alone would lose every Lease. */
export const MIN_LEASE_SECONDS = 3;

/**
 * Returns the times of leader election, in the proportions of client-go's defaults: 15 s, 10 s and
 * 2 s.
 */
export function leaderTimes(durationSeconds: number): LeaseTimes {
  return {
    durationSeconds,
    deadlineMs: (durationSeconds * 1000 * 2) / 3,
    periodMs: (durationSeconds * 1000 * 2) / 15,
  };
}

/**
 * Returns the times of shard membership: a renewal every 3 s of 15. Five tries suffice: a member
 * that is considered dead by mistake costs double work, never a wrong write.
 */
export function peerTimes(durationSeconds: number): LeaseTimes {
  return { durationSeconds, deadlineMs: durationSeconds * 1000, periodMs: durationSeconds * 200 };
}
