// SPDX-License-Identifier: Apache-2.0

/** One RBAC rule, of a Role in `namespace`, or of a ClusterRole without one. */
export interface PermissionRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly namespace?: string;
}
