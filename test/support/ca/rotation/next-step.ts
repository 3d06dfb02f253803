// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import type { CaCertificate } from '#ca/rotation/ca-certificate.ts';
import { nextStep, type Rotation, type RotationInput } from '#ca/rotation/next-step.ts';
import type { DesiredCa } from '#ca/rotation/desired-ca.ts';

export const BORN = Date.UTC(2026, 0, 1);
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A year, as the default of `duration` has it. */
export const YEAR = 8760 * HOUR;

/** design §2: a CA of a year, leaves of a day, the default `renewBefore`. */
export const DESIRED: DesiredCa = {
  keyType: 'ECDSAP256',
  commonName: 'Example workload CA',
  durationSeconds: YEAR / SECOND,
  renewBeforeSeconds: YEAR / SECOND / 5,
  longestLeafSeconds: DAY / SECOND,
  maxRetiring: 8,
};

export const print = (digit: string): string => `sha256:${digit.repeat(64)}`;

/** A CA that was made at {@link BORN} as {@link DESIRED} wants it; `more` replaces parts. */
export function held(more: Partial<CaCertificate> = {}): CaCertificate {
  const bornAt = more.bornAt ?? BORN;
  const durationSeconds = more.durationSeconds ?? DESIRED.durationSeconds;
  return {
    fingerprint: print('a'),
    notBefore: bornAt - 5 * MINUTE,
    notAfter: bornAt + durationSeconds * SECOND,
    bornAt,
    durationSeconds,
    keyType: 'ECDSAP256',
    commonName: `Example workload CA ${bornAt / SECOND}`,
    ...more,
  };
}

export function entry(
  of: CaCertificate,
  phase: AuthorityStatus['phase'] = 'Active',
): AuthorityStatus {
  return {
    fingerprint: of.fingerprint,
    phase,
    notBefore: new Date(of.notBefore).toISOString(),
    notAfter: new Date(of.notAfter).toISOString(),
    longestLeaf: '24h',
    anchors: of.fingerprint,
  };
}

/** What is to be done; by default about a CA of an hour's age that has been served all the time. */
export function stepOf(more: Partial<RotationInput> = {}): Rotation {
  const active = held();
  return nextStep({
    desired: DESIRED,
    requested: { rotateAt: undefined, prepareAt: undefined, unread: [] },
    authorities: [entry(active)],
    isDistrusted: () => false,
    slots: { active, next: undefined, activatedAt: BORN },
    servedSince: ({ bornAt }) => bornAt,
    propagationSeconds: 600,
    now: BORN + HOUR,
    ...more,
  });
}
