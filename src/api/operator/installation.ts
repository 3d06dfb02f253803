// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../object/object.ts';
import type { Condition } from '../request/conditions.ts';

/** The only name that an {@link InstallationObject} may have. */
export const SINGLETON = 'cluster';

/** The status that an operator writes for an installation. */
export interface InstallationStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  /** The version that every component runs. */
  readonly version?: string;
  /** The version that the operator is installing. */
  readonly desiredVersion?: string;
  /** The version of the operator that wrote this. */
  readonly operatorVersion?: string;
}

/** An object from which an operator installs a version: a singleton of its kind. */
export interface InstallationObject extends KubeObject {
  readonly spec: { readonly version: string };
  readonly status?: InstallationStatus;
}
