// SPDX-License-Identifier: Apache-2.0
import { findCondition, type Condition } from '#api/request/conditions.ts';

/** The fields that are read of a core/v1 PodStatus. */
export interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly Condition[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

interface ContainerStatus {
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: object;
  };
  readonly lastState?: { readonly terminated?: End };
}

interface End {
  readonly reason?: string;
  readonly exitCode?: number;
}

const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];

/** Reasons of a container that waits without a fault of its own. */
const FAULTLESS: readonly (string | undefined)[] = ['ContainerCreating', 'PodInitializing'];

/** Returns why a pod is not ready, from its status. Undefined if it is ready or has ended. */
export function unreadyReason(status: PodStatus = {}): string | undefined {
  const ready = findCondition(status.conditions, 'Ready');
  if (ready?.status === 'True' || ENDED.includes(status.phase)) return undefined;
  const containers = [status.initContainerStatuses, status.containerStatuses].flat();
  const [fault] = containers.flatMap((each) => (each === undefined ? [] : faultOf(each)));
  const scheduled = findCondition(status.conditions, 'PodScheduled');
  return fault ?? textOf(scheduled?.status === 'False' ? scheduled : ready);
}

/**
 * Reports whether all containers of a pod run and none has ended before, so that the pod lacks only
 * its readiness. A container that ends again and again also runs between two ends.
 */
export function lacksOnlyReadiness({
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus = {}): boolean {
  const isSteady = ({ state, lastState }: ContainerStatus): boolean =>
    state?.waiting === undefined && lastState?.terminated === undefined;
  const doRun = containerStatuses.every(({ state }) => state?.running !== undefined);
  return (
    containerStatuses.length > 0 &&
    doRun &&
    [...initContainerStatuses, ...containerStatuses].every(isSteady)
  );
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

/** Returns `Reason: message`, or the part that exists. */
function textOf(
  of: { readonly reason?: string; readonly message?: string } | undefined,
): string | undefined {
  const parts = [of?.reason, of?.message].filter((each) => each !== undefined && each !== '');
  return parts.length === 0 ? undefined : parts.join(': ');
}
