// SPDX-License-Identifier: Apache-2.0
import { isRecord, titleOf, type ManagedObject } from './managed-object.ts';

/** How far a Deployment is. */
export interface Rollout {
  /** The Deployment's name. */
  readonly name: string;
  /** All its pods are of the present template, and available. */
  readonly done: boolean;
  /** Enough pods answer, of whatever template. */
  readonly available: boolean;
  /** It has not progressed within its deadline, or its pods are refused, such as by a quota. */
  readonly stuck: boolean;
  /** What it waits for; empty where it is done. */
  readonly message: string;
}

/** Reads a Deployment's status, as `kubectl rollout status` does. Undefined for other kinds. */
export function rolloutOf(object: ManagedObject): Rollout | undefined {
  if (object.kind !== 'Deployment') return undefined;
  const status = recordIn(object, 'status');
  const wanted = numberIn(recordIn(object, 'spec'), 'replicas', 1);
  const waits = waitingFor(object, status, wanted);
  const refusal = refusalOfPods(status);
  return {
    name: object.metadata.name,
    done: waits === undefined,
    available: wanted === 0 || conditionOf(status, 'Available')?.['status'] === 'True',
    stuck: waits !== undefined && whyStuck(status) !== undefined,
    message:
      waits === undefined ? '' : `${titleOf(object)}: ${[waits, refusal ?? []].flat().join(': ')}`,
  };
}

/**
 * Why pods of a Deployment do not come, as far as its own status says so.
 *
 * @param status - apps/v1 DeploymentStatus
 */
export function whyStuck(status: Readonly<Record<string, unknown>>): string | undefined {
  const refusal = refusalOfPods(status);
  if (refusal !== undefined) return refusal;
  const { reason, message } = conditionOf(status, 'Progressing') ?? {};
  if (reason !== 'ProgressDeadlineExceeded') return undefined;
  return typeof message === 'string' && message !== '' ? message : 'its progress deadline is over';
}

/** Why the API server takes no pod of it: what the ReplicaSet controller was told (apps/v1, ReplicaFailure). */
export function refusalOfPods(status: Readonly<Record<string, unknown>>): string | undefined {
  const failure = conditionOf(status, 'ReplicaFailure');
  if (failure?.['status'] !== 'True') return undefined;
  const { message } = failure;
  return typeof message === 'string' && message !== '' ? message : 'its pods are refused';
}

function waitingFor(
  { metadata }: ManagedObject,
  status: Readonly<Record<string, unknown>>,
  wanted: number,
): string | undefined {
  const number = (field: string): number => numberIn(status, field, 0);
  if (number('observedGeneration') < (metadata.generation ?? 1)) return 'not observed yet';
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
  const { conditions } = status;
  if (!Array.isArray(conditions)) return undefined;
  return (conditions as readonly unknown[]).filter(isRecord).find((each) => each['type'] === type);
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
