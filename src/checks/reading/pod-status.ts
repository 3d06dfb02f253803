// SPDX-License-Identifier: Apache-2.0
import { findCondition, type Condition } from '../../api/request/conditions.ts';

/** core/v1 PodStatus, as far as it is read. */
export interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly Condition[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

interface ContainerStatus {
  readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
  readonly lastState?: { readonly terminated?: End };
}

interface End {
  readonly reason?: string;
  readonly exitCode?: number;
}

const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];

/** Reasons of a container that waits for others, and has no fault of its own. */
const FAULTLESS: readonly (string | undefined)[] = ['ContainerCreating', 'PodInitializing'];

/** Why a pod is not ready, in the words of its status; undefined where it is ready, or has ended. */
export function whyNotReady(status: PodStatus = {}): string | undefined {
  const ready = findCondition(status.conditions, 'Ready');
  if (ready?.status === 'True' || ENDED.includes(status.phase)) return undefined;
  const containers = [status.initContainerStatuses, status.containerStatuses].flat();
  const [fault] = containers.flatMap((each) => (each === undefined ? [] : faultOf(each)));
  const scheduled = findCondition(status.conditions, 'PodScheduled');
  return fault ?? textOf(scheduled?.status === 'False' ? scheduled : ready);
}

function faultOf({ state, lastState }: ContainerStatus): readonly string[] {
  const waiting = state?.waiting;
  const fault = FAULTLESS.includes(waiting?.reason) ? undefined : textOf(waiting);
  return fault === undefined ? [] : [`${fault}${endText(lastState?.terminated)}`];
}

function endText(end: End | undefined): string {
  if (end === undefined) return '';
  const { reason = 'its end', exitCode = 0 } = end;
  return ` after ${reason} with exit code ${exitCode}`;
}

/** `Reason: message`, where there are any. */
function textOf(
  of: { readonly reason?: string; readonly message?: string } | undefined,
): string | undefined {
  const parts = [of?.reason, of?.message].filter((each) => each !== undefined && each !== '');
  return parts.length === 0 ? undefined : parts.join(': ');
}
