// SPDX-License-Identifier: Apache-2.0
import type { ObjectMeta } from '../../protobuf/object-meta.ts';

export type { ObjectMeta };

/** What every object of the API has. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** A Secret: `data` values are standard base64. */
export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  /** Its data can never be changed. */
  readonly immutable?: boolean;
}

/** A ConfigMap: `data` values are texts. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** `namespace/name`, or the bare name of a cluster-scoped object: the key of stores and queues. */
export function keyOf(metadata: Pick<ObjectMeta, 'name' | 'namespace'>): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}
