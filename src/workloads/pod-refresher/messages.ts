// SPDX-License-Identifier: Apache-2.0
/** Texts of the pod-refresher, by where users read them. */
import { formatTime } from '#api/object/time.ts';
import type { WaitReason } from '../refresh/verdict.ts';

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

const WAITS: Readonly<Record<WaitReason, string>> = {
  NotDue: 'its certificates still change',
  RolloutInProgress:
    'a rollout under the same PodDisruptionBudget, or a pod that is not ready, must end first; check their pods',
  Interval: 'its label countersign.dev/restarted-at shows a restart in the last five minutes',
  Rate: 'other rollouts use all of --concurrent or --restarts-per-minute; raise the limit, or check the pods of those rollouts',
  NamespaceRate:
    'rollouts of its namespace use all of --namespace-concurrent or --namespace-restarts-per-minute; raise the limit, or check the pods of those rollouts',
  Conflict: 'it changed meanwhile',
  NoAuthority: 'a signer of its pods has no CA that signs; give it one',
};

export function restartOverdue(reason: WaitReason): string {
  return `its pods use an older certificate, which will expire in use; the restart waits: ${WAITS[reason]}`;
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
