// SPDX-License-Identifier: Apache-2.0

/**
 * The object without `metadata.managedFields`: left out of an update the API server keeps its own,
 * and a write is half as long. The field stays, undefined, which JSON does not show.
 */
export function withoutManagedFields<T extends { readonly metadata: object }>(object: T): T {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}
