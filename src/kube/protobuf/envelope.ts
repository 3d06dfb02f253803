// SPDX-License-Identifier: Apache-2.0
import { MessageReader } from './reader.ts';
import { bytesField, message, stringField } from './writer.ts';

/** The media type of Kubernetes' protobuf. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** `metav1.TypeMeta`. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The content of a `runtime.Unknown`: the type of an object, and its message, not decoded yet. */
export interface EnvelopeContent {
  readonly type: TypeMeta;
  readonly raw: Buffer;
}

/** The prefix of every object on the wire (apimachinery, serializer/protobuf). */
const MAGIC = Buffer.from('k8s\0', 'latin1');

/** Opens the `runtime.Unknown` around an object. @throws SyntaxError */
export function openEnvelope(bytes: Uint8Array): EnvelopeContent {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // compare() needs no view of the bytes.
  if (
    buffer.length < MAGIC.length ||
    buffer.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0
  ) {
    throw new SyntaxError('protobuf: the prefix of a Kubernetes object is missing');
  }
  const fields = new MessageReader(buffer, MAGIC.length);
  let type: TypeMeta = { apiVersion: '', kind: '' };
  let raw: Buffer = Buffer.alloc(0);
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) type = readType(fields.message());
    else if (field === 2) raw = fields.bytes();
    else fields.skip();
  }
  return { type, raw };
}

function readType(fields: MessageReader): TypeMeta {
  let apiVersion = '';
  let kind = '';
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) apiVersion = fields.string();
    else if (field === 2) kind = fields.string();
    else fields.skip();
  }
  return { apiVersion, kind };
}

/** Puts the message of an object into a `runtime.Unknown`, as the body of a write. */
export function envelope({ apiVersion, kind }: TypeMeta, raw: Uint8Array): Buffer {
  const type = message(stringField(1, apiVersion), stringField(2, kind));
  return message(MAGIC, bytesField(1, type), bytesField(2, raw));
}
