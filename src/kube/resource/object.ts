// SPDX-License-Identifier: Apache-2.0

/** The metadata of an object that a cache needs. */
export interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/**
 * Returns the key of an object: `namespace/name`, or the name alone (client-go:
 * MetaNamespaceKeyFunc).
 */
export function objectKey({ metadata }: StoredObject): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

/**
 * Reports whether resourceVersion `a` is later than `b`. Within one collection they are increasing
 * decimal numbers (KEP-5504). They may exceed the precision of a double, so the function compares
 * text.
 */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

/**
 * Returns the object without `metadata.managedFields`. The API server keeps its own when an update
 * omits them, and the body is half as long. The field stays, undefined, so JSON omits it.
 */
export function withoutManagedFields<T extends { readonly metadata: object }>(object: T): T {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}
