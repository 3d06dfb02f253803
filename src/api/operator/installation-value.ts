// SPDX-License-Identifier: Apache-2.0

/** A name that an installation does not list yet. */
export interface UnlistedName {
  /** The name with its kind, such as `Secret team-a/ca`. */
  readonly what: string;
  /** Path of the list in the values of the chart, or in the spec of a Countersign. */
  readonly value: string;
  /** Flag of `countersign rbac` with its argument, if the installation has no values. */
  readonly flag: string;
}

/**
 * Returns the advice that lists a name in an installation. `countersign rbac` with the one flag
 * would take the permissions for all other names: its output replaces the roles.
 */
export function listInInstallation({ what, value, flag }: UnlistedName): string {
  return `an administrator adds ${what} to ${value} in the values of the installation (without values: ${flag}, beside all flags that countersign rbac got before, because its output replaces the roles)`;
}
