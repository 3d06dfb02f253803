// SPDX-License-Identifier: Apache-2.0

/** `metav1.ObjectOwner`, as far as it is read. */
export interface ObjectOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** The metadata of a desired or a live object. */
export interface ManagedMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly ObjectOwner[];
}

/** An object that is kept as it is desired, or its live state: JSON with a kind and a name. */
export interface ManagedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManagedMetadata;
  readonly [field: string]: unknown;
}

/** How people name it: `Deployment countersign-system/countersign-signer`. */
export function titleOf({ kind, metadata }: Pick<ManagedObject, 'kind' | 'metadata'>): string {
  const { namespace, name } = metadata;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** Whether a value is a JSON object, not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
