// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, UpstreamSpec } from '#api/signer/cluster-signer.ts';
import { formatDuration } from '#api/object/duration.ts';
import type { Dice } from '../../../oracle/dice.ts';
import { workload } from '../../../support/signers/workload-profile.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * How rough the world is: mean time between accidents of each kind, in milliseconds; 0 for never.
 */
export interface Weather {
  readonly restarts: number;
  readonly outages: number;
  readonly clockSteps: number;
  readonly specChanges: number;
  readonly wishes: number;
  readonly distrusts: number;
  /** Of the status: all of it, or a part; or an older copy takes its place. */
  readonly wipes: number;
  /**
   * Of a hundred calls so many are lost before, or after, they are carried out; or kill their
   * caller.
   */
  readonly lostPercent: number;
}

export const NOT_WAITING: Weather = {
  restarts: 0,
  outages: 0,
  clockSteps: 0,
  specChanges: 0,
  wishes: 0,
  distrusts: 0,
  wipes: 0,
  lostPercent: 0,
};

export const ROUGH: Weather = {
  restarts: 9 * DAY,
  outages: 20 * DAY,
  clockSteps: 15 * DAY,
  specChanges: 120 * DAY,
  wishes: 60 * DAY,
  distrusts: 150 * DAY,
  wipes: 40 * DAY,
  lostPercent: 15,
};

/** Durations of one spec, in seconds; a CA lives at least twice as long as a leaf. */
export interface Durations {
  readonly duration: number;
  readonly maxDuration: number;
  readonly renewBefore: number | undefined;
}

/** From CAs of three days to CAs of a year, from leaves of an hour to leaves of a month. */
export function randomDurations(dice: Dice): Durations {
  const maxDuration = dice.of([1, 1, 2, 12, 24, 24, 168, 720]) * 3_600;
  const least = Math.max(72 * 3_600, 2 * maxDuration);
  const duration = Math.max(least, dice.of([72, 168, 720, 720, 2160, 8760]) * 3_600);
  const share = dice.of([0, 0, 0.05, 0.3, 0.5, 0.9]);
  const renewBefore = share === 0 ? undefined : Math.floor(duration * share);
  return { duration, maxDuration, renewBefore };
}

export function changesOf({
  duration,
  maxDuration,
  renewBefore,
}: Durations): Record<string, unknown> {
  return {
    'authority.managed.duration': formatDuration(duration),
    'authority.managed.renewBefore':
      renewBefore === undefined ? undefined : formatDuration(renewBefore),
    'profile.maxDuration': formatDuration(maxDuration),
  };
}

/** The ClusterSigner of these durations at the beginning. */
export function signerOf(
  durations: Durations,
  {
    crossSigned = false,
    crl = false,
    upstream,
  }: {
    readonly crossSigned?: boolean;
    readonly crl?: boolean;
    readonly upstream?: UpstreamSpec;
  },
): ClusterSigner {
  const changes = {
    ...changesOf(durations),
    'authority.managed.crossSigned': crossSigned,
    'authority.managed.upstream': upstream,
    'profile.crl': crl ? { validity: '24h' } : undefined,
  };
  return workload(changes, { metadata: { resourceVersion: '0' } });
}

/** Whether `spec.authority.managed.distrusted` names it now. */
export function isNamed({ spec }: ClusterSigner, fingerprint: string): boolean {
  return spec.authority.managed?.distrusted?.includes(fingerprint) === true;
}
