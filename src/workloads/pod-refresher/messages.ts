// SPDX-License-Identifier: Apache-2.0
/** Texts of the pod-refresher, by where users read them. */
import { formatTime } from '#api/object/time.ts';

// Events

export function restartingDistrusted(credentials: string): string {
  return `restarting its pods, which use or may use a CA that is distrusted: ${credentials}`;
}

export function restartingOutdated(credentials: string): string {
  return `restarting its pods, which have an older certificate of ${credentials}`;
}

export function evicted(signerName: string, notAfter: number, refusal: string): string {
  return `evicted: its credential of ${signerName} expires at ${formatTime(notAfter)}, and its renewal was denied: ${refusal}`;
}

export function evictedOlder(credentials: string): string {
  return `evicted: it has an older certificate of ${credentials}`;
}

export function restartBlocked(budget: string, isOverdue: boolean): string {
  const end = isOverdue
    ? ', and the certificate will expire in use: allow one, or delete the pods one by one'
    : '';
  return `its pods use an older certificate; the restart is postponed: PodDisruptionBudget ${budget} allows no disruption${end}`;
}

export function restartHeld(cause: string): string {
  return `its pods have an older certificate, and a changed template would not replace them: ${cause}`;
}

export function restartReverted(cause: string): string {
  return `its pods have an older certificate, and are not restarted again: ${cause}`;
}

export function restartRefused(cause: string): string {
  return `its pods have an older certificate, and could not be restarted: ${cause}`;
}

// Log

export function restarted(cause: string): string {
  return `restarted: ${cause}`;
}

export const CA_DISTRUSTED = 'a CA of its pods is distrusted';
export const CERTIFICATES_CHANGED = 'its certificates changed';
export const CANNOT_RESTART = 'cannot be restarted';
export const EVICTED_OLDER = 'evicted a pod with an older certificate';
export const EVICTION = 'eviction of a pod whose credential expires';
export const PASS_FAILED = 'a pass over the workloads failed';

// /readyz

export function unlisted(failure: string | undefined): string {
  return `objects to watch: ${failure ?? 'not listed yet'}`;
}

export function brokenWatch(failure: string): string {
  return `watch: ${failure}`;
}
