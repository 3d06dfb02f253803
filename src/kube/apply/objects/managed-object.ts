// SPDX-License-Identifier: Apache-2.0
import { isRecord } from '#base/record.ts';
import type { ManagedFieldsEntry } from '../../protobuf/object-meta.ts';

/** `metav1.OwnerReference`, reduced to the fields that are read. */
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
  readonly finalizers?: readonly string[];
  /** Undefined in a cache, which drops them. */
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
}

/** A desired object or its live state: JSON with a kind and a name. */
export interface ManagedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManagedMetadata;
  readonly [field: string]: unknown;
}

/** Returns the name that people use: `Deployment countersign-system/countersign-signer`. */
export function titleOf({ kind, metadata }: Pick<ManagedObject, 'kind' | 'metadata'>): string {
  const { namespace, name } = metadata;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** Returns a JSON list, or an empty one for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Reports whether a value has what every object has: its type and its name. */
function isManagedObject(value: unknown): value is ManagedObject {
  if (!isRecord(value)) return false;
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isRecord(metadata))
    return false;
  const { name, namespace = '' } = metadata;
  return typeof name === 'string' && typeof namespace === 'string';
}

/** @throws TypeError for a value without a type or a name */
export function toManagedObject(value: unknown): ManagedObject {
  if (isManagedObject(value)) return value;
  throw new TypeError('an object has no apiVersion, kind or metadata.name');
}
