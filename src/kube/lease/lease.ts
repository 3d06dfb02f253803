// SPDX-License-Identifier: Apache-2.0
import { resource } from '../resource/resource.ts';
import { microTime } from '../resource/json.ts';
import type { StoredObject } from '../resource/object.ts';

/** `coordination.k8s.io/v1` Lease, as far as we read or write it. */
export interface Lease extends StoredObject {
  readonly metadata: StoredObject['metadata'] & {
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: LeaseSpec;
}

/** Absent or empty `holderIdentity`: it was given back, and is anybody's. */
export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** `metav1.MicroTime`s of the holder's clock: shown to people, compared with nothing. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export const LEASES = resource({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
});

/** Nobody of ours asks for more, and a forged Lease must not count for years. */
export const MAX_LEASE_SECONDS = 300;

/** Milliseconds for which a Lease counts from the moment when it was last seen to change; 0: not at all. */
export function leaseMilliseconds({ spec }: Lease): number {
  if (holderOf(spec) === undefined) return 0;
  const seconds = spec?.leaseDurationSeconds ?? 0;
  return Math.max(0, Math.min(seconds, MAX_LEASE_SECONDS)) * 1000;
}

/** Who holds it; undefined when nobody does. */
export function holderOf(spec: LeaseSpec | undefined): string | undefined {
  const holder = spec?.holderIdentity;
  return holder === undefined || holder === '' ? undefined : holder;
}

/** The spec with which `identity` takes a Lease, or renews its own. */
export function heldSpec(
  before: LeaseSpec | undefined,
  { identity, durationSeconds }: { readonly identity: string; readonly durationSeconds: number },
  now: number,
): LeaseSpec {
  const time = microTime(now);
  const renewed = holderOf(before) === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: durationSeconds,
    acquireTime: (renewed ? before?.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: (before?.leaseTransitions ?? 0) + Number(before !== undefined && !renewed),
  };
}

/** The spec of a Lease that was given back; as client-go leaves it, so that its electors agree. */
export function releasedSpec({ leaseTransitions = 0 }: LeaseSpec, now: number): LeaseSpec {
  const time = microTime(now);
  return { leaseDurationSeconds: 1, acquireTime: time, renewTime: time, leaseTransitions };
}

/** How long a Lease counts, and how its holder sees to it that it is renewed in time. */
export interface LeaseTimes {
  /** `spec.leaseDurationSeconds`: others wait for so long after the last change that they saw. */
  readonly durationSeconds: number;
  /**
   * Milliseconds after the last successful renewal was sent for which the holder acts on it. Shorter
   * than the duration: clocks may run at rates that differ by the quotient of the two.
   */
  readonly deadlineMs: number;
  /** Milliseconds between renewals, and between attempts that failed. */
  readonly periodMs: number;
}

/** As kube-controller-manager's `--leader-elect-lease-duration`. */
export const DEFAULT_LEASE_SECONDS = 15;

/** Below, a slow API server alone would end every term. */
export const MIN_LEASE_SECONDS = 3;

/** In the proportions of client-go's defaults: 15 s, acted on for 10 s, renewed every 2 s. */
export function leaderTimes(durationSeconds: number): LeaseTimes {
  return {
    durationSeconds,
    deadlineMs: (durationSeconds * 1000 * 2) / 3,
    periodMs: (durationSeconds * 1000 * 2) / 15,
  };
}

/**
 * Members of a group renew every 3 s of 15: one that is taken for gone by mistake costs work that is
 * done twice, never a wrong write, so five tries are enough.
 */
export function memberTimes(durationSeconds: number): LeaseTimes {
  return { durationSeconds, deadlineMs: durationSeconds * 1000, periodMs: durationSeconds * 200 };
}
