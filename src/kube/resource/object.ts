// SPDX-License-Identifier: Apache-2.0

/** What a store must know of an object. */
export interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** `namespace/name`, or the name alone. */
export function objectKey({ metadata }: StoredObject): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

/**
 * Whether `a` is of a later moment than `b`. resourceVersions of one collection are decimal numbers
 * that grow (KEP-5504); they may be longer than a double is exact, so they are compared as text.
 */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

/**
 * The object without `metadata.managedFields`: left out of an update the API server keeps its own,
 * and a write is half as long. The field stays, undefined, which JSON does not show.
 */
export function withoutManagedFields<T extends { readonly metadata: object }>(object: T): T {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}
