// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import type { IntOrPercent, Workload } from '#api/workload/workload.ts';
import * as messages from './messages.ts';

/** Progress of a workload's rollout, by the rules of `kubectl rollout status`. */
export type RolloutState =
  | { readonly kind: 'complete' }
  | { readonly kind: 'progressing' }
  /** It will not complete without a change. */
  | { readonly kind: 'failed'; readonly message: string }
  /** A changed template would not replace its pods. */
  | { readonly kind: 'held'; readonly message: string };

/** Judges the rollout of a workload by its status. */
export function rolloutOf(workload: Workload): RolloutState {
  const { kind, spec } = workload;
  if (kind === 'Deployment') return deployment(workload);
  if (spec.updateStrategy?.type === 'OnDelete') {
    const message = messages.ON_DELETE;
    return { kind: 'held', message };
  }
  return kind === 'StatefulSet' ? statefulSet(workload) : daemonSet(workload);
}

/**
 * Returns the desired number of pods, or undefined for a DaemonSet whose controller has not counted
 * nodes yet.
 */
export function desiredPods({ kind, spec, status }: Workload): number | undefined {
  return kind === 'DaemonSet' ? status?.desiredNumberScheduled : (spec.replicas ?? 1);
}

/**
 * Reports whether a rollout temporarily has fewer available pods. With `maxUnavailable` of 0, each
 * new pod is available before an old one is deleted, so a rollout does not affect a
 * PodDisruptionBudget.
 */
export function takesPodsAway(workload: Workload): boolean {
  const { kind, spec } = workload;
  const total = desiredPods(workload) ?? 1;
  if (kind === 'Deployment') {
    return spec.strategy?.type === 'Recreate' || sinksBelow(spec.strategy?.rollingUpdate, total);
  }
  // apps/v1: exactly one of maxUnavailable and maxSurge is not 0 in a DaemonSet. A StatefulSet has
  // no surge.
  const { maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  return kind === 'StatefulSet' || amount(maxSurge, total, Math.ceil) === 0;
}

function sinksBelow(
  {
    maxUnavailable = '25%',
    maxSurge = '25%',
  }: NonNullable<Workload['spec']['strategy']>['rollingUpdate'] & object = {},
  total: number,
): boolean {
  if (amount(maxUnavailable, total, Math.floor) > 0) return true;
  // If both are 0, the controller removes one pod (k8s.io/kubectl, ResolveFenceposts).
  return amount(maxSurge, total, Math.ceil) === 0;
}

function amount(given: IntOrPercent, total: number, round: (value: number) => number): number {
  if (typeof given === 'number') return given;
  const percent = /^(\d+)%$/.exec(given)?.[1];
  return percent === undefined ? 0 : round((Number(percent) * total) / 100);
}

function deployment({ metadata, spec, status = {} }: Workload): RolloutState {
  if (spec.paused === true) {
    return { kind: 'held', message: messages.PAUSED };
  }
  if (isUnobserved(metadata.generation, status.observedGeneration)) return PROGRESSING;
  const progress = findCondition(status.conditions, 'Progressing');
  if (progress?.reason === 'ProgressDeadlineExceeded') {
    return { kind: 'failed', message: progress.message ?? messages.DEADLINE_EXCEEDED };
  }
  return areAllUpdated(spec.replicas ?? 1, status) ? COMPLETE : PROGRESSING;
}

function areAllUpdated(desired: number, status: NonNullable<Workload['status']>): boolean {
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const isWhole = updatedReplicas >= desired && replicas <= updatedReplicas;
  return isWhole && availableReplicas >= updatedReplicas;
}

function statefulSet({ metadata, spec, status = {} }: Workload): RolloutState {
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  if (partition > 0) {
    const message = messages.partitioned(partition);
    return { kind: 'held', message };
  }
  if (isUnobserved(metadata.generation, status.observedGeneration)) return PROGRESSING;
  return areAllReady(spec.replicas ?? 1, status) ? COMPLETE : PROGRESSING;
}

function areAllReady(desired: number, status: NonNullable<Workload['status']>): boolean {
  const { readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status;
  const isOne = updateRevision === currentRevision || updatedReplicas >= desired;
  return readyReplicas >= desired && isOne;
}

function daemonSet({ metadata, status = {} }: Workload): RolloutState {
  if (isUnobserved(metadata.generation, status.observedGeneration)) return PROGRESSING;
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = status;
  const isWhole = updatedNumberScheduled >= desiredNumberScheduled;
  return isWhole && numberAvailable >= desiredNumberScheduled ? COMPLETE : PROGRESSING;
}

const COMPLETE: RolloutState = { kind: 'complete' };
const PROGRESSING: RolloutState = { kind: 'progressing' };

function isUnobserved(generation = 0, observed = 0): boolean {
  return generation > observed;
}
