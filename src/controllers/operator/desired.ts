// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '../../api/operator/countersign.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { ManagedObject } from '../../reconciling/objects/managed-object.ts';

/** What a spec makes of an installation. */
export interface DesiredInstallation {
  readonly objects: readonly ManagedObject[];
  /** The permissions that the operator needs for exactly these objects. */
  readonly rules: readonly PermissionRule[];
  /** Whether it is of the oldest version that this operator installs: the next operator does not. */
  readonly oldest: boolean;
  /** Arguments that the version does not know, and that were let through. */
  readonly unknownArguments: readonly string[];
}

/** Why nothing is changed. */
export interface Refusal {
  /** Reason of the condition. */
  readonly reason: string;
  readonly message: string;
}

/** Makes the objects of a spec, or says why not. Pure. */
export type InstallationOf = (spec: CountersignSpec) => DesiredInstallation | Refusal;

/** Whether the spec was refused. */
export function isRefusal(given: object): given is Refusal {
  return 'reason' in given;
}
