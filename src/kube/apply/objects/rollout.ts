// SPDX-License-Identifier: Apache-2.0
import { isRecord } from '#base/record.ts';
import { titleOf, type ManagedObject, listOf } from './managed-object.ts';

/** The progress of a Deployment. */
export interface Rollout {
  /** The Deployment's name. */
  readonly name: string;
  /** All its pods have the present template and are available. */
  readonly done: boolean;
  /** Whether a pod of an older template may still run, including a terminating one. */
  readonly hasOldPods: boolean;
  /** Enough pods of any template are available. */
  readonly available: boolean;
  /** It exceeded its progress deadline, or the API server rejects its pods, such as for a quota. */
  readonly stuck: boolean;
  /** What it waits for. Empty once it is done. */
  readonly message: string;
}

/**
 * Reads a Deployment's status as `kubectl rollout status` does. Returns undefined for other kinds.
 */
export function rolloutOf(object: ManagedObject): Rollout | undefined {
  if (object.kind !== 'Deployment') return undefined;
  const status = recordIn(object, 'status');
  const wanted = numberIn(recordIn(object, 'spec'), 'replicas', 1);
  const waits = waitingFor(object, status, wanted);
  const refusals = [refusalOfPods(status)].filter((each) => each !== undefined);
  return {
    name: object.metadata.name,
    done: waits === undefined,
    hasOldPods: hasOldPods(object, status),
    available: wanted === 0 || conditionOf(status, 'Available')?.['status'] === 'True',
    stuck: waits !== undefined && stuckReason(status) !== undefined,
    message: waits === undefined ? '' : [titleOf(object), waits, ...refusals].join(': '),
  };
}

/**
 * Returns why a Deployment gets no pods, if its own status shows it.
 *
 * @param status - apps/v1 DeploymentStatus
 */
export function stuckReason(status: Readonly<Record<string, unknown>>): string | undefined {
  const refusal = refusalOfPods(status);
  if (refusal !== undefined) return refusal;
  const { reason, message } = conditionOf(status, 'Progressing') ?? {};
  if (reason !== 'ProgressDeadlineExceeded') return undefined;
  return typeof message === 'string' && message !== '' ? message : 'its progress deadline is over';
}

/**
 * Returns why the API server rejects its pods. The ReplicaSet controller reports that (apps/v1,
 * ReplicaFailure).
 */
export function refusalOfPods(status: Readonly<Record<string, unknown>>): string | undefined {
  const failure = conditionOf(status, 'ReplicaFailure');
  if (failure?.['status'] !== 'True') return undefined;
  const { message } = failure;
  return typeof message === 'string' && message !== '' ? message : 'its pods are refused';
}

function isObserved(
  { metadata }: ManagedObject,
  status: Readonly<Record<string, unknown>>,
): boolean {
  return numberIn(status, 'observedGeneration', 0) >= (metadata.generation ?? 1);
}

function hasOldPods(object: ManagedObject, status: Readonly<Record<string, unknown>>): boolean {
  if (!isObserved(object, status)) return true;
  const number = (field: string): number => numberIn(status, field, 0);
  // KEP-3973: `replicas` does not count terminating pods.
  return number('replicas') > number('updatedReplicas') || number('terminatingReplicas') > 0;
}

function waitingFor(
  object: ManagedObject,
  status: Readonly<Record<string, unknown>>,
  wanted: number,
): string | undefined {
  if (!isObserved(object, status)) return 'not observed yet';
  const number = (field: string): number => numberIn(status, field, 0);
  const updated = number('updatedReplicas');
  if (updated < wanted) return `${updated} of ${wanted} pods are new`;
  if (number('replicas') > updated) return `${number('replicas') - updated} old pods are left`;
  if (number('availableReplicas') < wanted)
    return `${number('availableReplicas')} of ${wanted} pods are available`;
  return undefined;
}

function conditionOf(
  status: Readonly<Record<string, unknown>>,
  type: string,
): Readonly<Record<string, unknown>> | undefined {
  return listOf(status['conditions'])
    .filter(isRecord)
    .find((each) => each['type'] === type);
}

function recordIn(
  object: Readonly<Record<string, unknown>>,
  field: string,
): Readonly<Record<string, unknown>> {
  const value = object[field];
  return isRecord(value) ? value : {};
}

function numberIn(
  object: Readonly<Record<string, unknown>>,
  field: string,
  absent: number,
): number {
  const value = object[field];
  return typeof value === 'number' ? value : absent;
}
