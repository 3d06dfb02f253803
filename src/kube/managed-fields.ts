// SPDX-License-Identifier: Apache-2.0

/**
 * The object without `metadata.managedFields`: left out of an update the API server keeps its own,
 * and a write is half as long.
 */
export function withoutManagedFields<T extends { readonly metadata: object }>(object: T): T {
  const { managedFields: _left, ...metadata } = object.metadata as { managedFields?: unknown };
  return { ...object, metadata };
}
