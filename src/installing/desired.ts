// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../kube/resource/permissions.ts';
import type { Resource } from '../kube/resource/resource.ts';
import type { ManagedObject } from '../reconciling/objects/managed-object.ts';

/** What a spec makes of an installation. */
export interface DesiredInstallation {
  readonly objects: readonly ManagedObject[];
  /** Titles of all that this operator may have to remove. */
  readonly removable: ReadonlySet<string>;
  /** Objects whose kinds and places are watched: what is desired, and where something may have to be removed. */
  readonly watched: readonly ManagedObject[];
  /** The permissions that the operator needs for exactly these objects. */
  readonly rules: readonly PermissionRule[];
  /** Whether it is of the oldest version that this operator installs: the next operator does not. */
  readonly oldest: boolean;
  /** Arguments that the version does not know, and that were let through. */
  readonly unknownArguments: readonly string[];
}

/** A kind of singleton from which something is installed, and who installs it. */
export interface InstalledKind {
  readonly kind: string;
  readonly resource: Resource;
  /** Value of the label on every object of the installation. */
  readonly label: string;
  /** Under which name everything is written: whoever has Argo CD or Flux beside it ignores the fields of this manager. */
  readonly fieldManager: string;
  /** Whose roles a message names where a permission is missing. */
  readonly account: string;
  /** What a message tells to do then. */
  readonly remedy: string;
}

/** Why nothing is changed. */
export interface Refusal {
  /** Reason of the condition. */
  readonly reason: string;
  readonly message: string;
}

/** Whether the spec was refused. */
export function isRefusal(given: object): given is Refusal {
  return 'reason' in given;
}
