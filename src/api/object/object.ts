// SPDX-License-Identifier: Apache-2.0
import { type ObjectMeta, readObjectMeta } from '#kube/protobuf/object-meta.ts';
import { PROTOBUF, openEnvelope } from '#kube/protobuf/envelope.ts';
import { MessageReader } from '#kube/protobuf/reader.ts';

export type { ObjectMeta };

/** The fields that every API object has. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  /** The type of a kind with a spec has more members. */
  readonly spec?: unknown;
}

/** A Secret: `data` values are standard base64. */
export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  /** The data is immutable. */
  readonly immutable?: boolean;
}

/** A ConfigMap: `data` values are texts, `binaryData` values standard base64. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/**
 * Returns `namespace/name`, or the bare name of a cluster-scoped object: the key of stores and
 * queues.
 */
export function keyOf(metadata: Pick<ObjectMeta, 'name' | 'namespace'>): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

/**
 * Compares two objects by age, the older first: by creationTimestamp, then by UID, so that the
 * order is total. RFC 3339 in UTC with whole seconds sorts as text.
 */
export function byAge(
  { metadata: a }: Pick<KubeObject, 'metadata'>,
  { metadata: b }: Pick<KubeObject, 'metadata'>,
): number {
  return compare(a.creationTimestamp, b.creationTimestamp) || compare(a.uid, b.uid);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Accept header for writes. It requests the metadata only, because callers read nothing else. */
export const ACCEPT_METADATA = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json`;

/** Reads `metav1.PartialObjectMetadata`, the response to a write with {@link ACCEPT_METADATA}. */
export function readPartialObjectMetadata(bytes: Uint8Array): { readonly metadata: ObjectMeta } {
  const fields = new MessageReader(openEnvelope(bytes).raw);
  let metadata: ObjectMeta | undefined;
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) metadata = readObjectMeta(fields.message());
    else fields.skip();
  }
  if (metadata === undefined) throw new SyntaxError('protobuf: an answer without metadata');
  return { metadata };
}

/** Returns the sent object with the resourceVersion of the response. */
export function asWritten<T extends KubeObject>(
  sent: T,
  { metadata: { resourceVersion } }: Pick<KubeObject, 'metadata'>,
): T {
  return { ...sent, metadata: { ...sent.metadata, resourceVersion } };
}
