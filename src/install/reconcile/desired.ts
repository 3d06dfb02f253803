// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

/** The desired installation of a spec. */
export interface DesiredInstallation {
  readonly objects: readonly ManagedObject[];
  /** Titles of all objects that this operator may have to remove. */
  readonly removable: ReadonlySet<string>;
  /**
   * Objects whose kinds and namespaces are watched: desired ones, and those that may have to be
   * removed.
   */
  readonly watched: readonly ManagedObject[];
  /** The permissions that the operator needs for exactly these objects. */
  readonly rules: readonly PermissionRule[];
  /** The first minor version of Kubernetes 1 that this version supports. */
  readonly minKubernetesMinor: number;
  /**
   * The version is the oldest that this operator installs. The next operator does not install it.
   */
  readonly oldest: boolean;
  /** Arguments that the version does not know, and that the danger zone allowed. */
  readonly unknownArguments: readonly string[];
}

/** A kind of singleton from which an operator installs, and that operator. */
export interface InstalledKind {
  readonly kind: string;
  readonly resource: Resource;
  /** Value of the label on every object of the installation. */
  readonly label: string;
  /** Field manager of all writes. Users of Argo CD or Flux ignore the fields of this manager. */
  readonly fieldManager: string;
  /** ServiceAccount whose roles a message names if a permission is missing. */
  readonly account: string;
  /** Remedy in that message. */
  readonly remedy: string;
}

/** Reason why the operator changes nothing. */
export interface Refusal {
  /** Reason of the condition. */
  readonly reason: string;
  readonly message: string;
}

/** Reports whether the spec was rejected. */
export function isRefusal(given: object): given is Refusal {
  return 'reason' in given;
}
