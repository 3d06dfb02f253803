// SPDX-License-Identifier: Apache-2.0

/** One RBAC rule; `namespace` makes it a Role's there, else it is a ClusterRole's. */
export interface PermissionRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly namespace?: string;
}
