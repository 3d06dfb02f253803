// SPDX-License-Identifier: Apache-2.0
import { PROTOBUF, openEnvelope } from '../../protobuf/envelope.ts';
import { readObjectMeta } from '../../protobuf/object-meta.ts';
import { MessageReader } from '../../protobuf/reader.ts';
import type { KubeObject, ObjectMeta } from './object.ts';

/** Accept: of the answer to a write only the metadata is read, so the server need not send the rest. */
export const METADATA_ALONE = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json`;

/** `metav1.PartialObjectMetadata`: what a write is answered with where nothing else is asked for. */
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

/** What was sent, in the version that it was answered with: nothing else of it is the API server's. */
export function asWritten<T extends KubeObject>(
  sent: T,
  { metadata: { resourceVersion } }: Pick<KubeObject, 'metadata'>,
): T {
  return { ...sent, metadata: { ...sent.metadata, resourceVersion } };
}
