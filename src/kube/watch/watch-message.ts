// SPDX-License-Identifier: Apache-2.0
import { openEnvelope, type EnvelopeContent, type TypeMeta } from '../protobuf/envelope.ts';
import { MessageReader } from '../protobuf/reader.ts';
import { readObjectMeta } from '../protobuf/object-meta.ts';
import { readStatusMessage } from '../client/protobuf-status.ts';
import { toWatchEvent, type WatchEvent } from './watch-event.ts';
import type { StoredObject } from '../resource/object.ts';

/** Decodes an object from its protobuf message. @throws SyntaxError */
export type ReadMessage<T> = (type: TypeMeta, raw: Uint8Array) => T;

/**
 * Reads a watch event in protobuf: a `metav1.WatchEvent`, whose object has its own envelope.
 *
 * @throws as `readWatchEvent`
 */
export function readWatchMessage<T extends StoredObject>(
  frame: Uint8Array,
  read: ReadMessage<T>,
): WatchEvent<T> {
  const fields = new MessageReader(frame);
  let type = '';
  let object: EnvelopeContent | undefined;
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) type = fields.string();
    else if (field === 2) object = openEnvelope(readRaw(fields.message()));
    else fields.skip();
  }
  if (object === undefined) throw new SyntaxError('protobuf: a watch event without an object');
  return toWatchEvent<T>(type, partOf(type, object, read));
}

/** Reads a `runtime.RawExtension`. */
function readRaw(fields: MessageReader): Uint8Array {
  let raw: Uint8Array = new Uint8Array(0);
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) raw = fields.bytes();
    else fields.skip();
  }
  return raw;
}

/**
 * Decodes the object by the type of the event. A bookmark has only metadata, an error has a Status.
 */
function partOf(
  type: string,
  { type: is, raw }: EnvelopeContent,
  read: ReadMessage<unknown>,
): unknown {
  if (type === 'ERROR') return readStatusMessage(raw);
  return type === 'BOOKMARK' ? readMetadata(raw) : read(is, raw);
}

/** Reads the metadata, which is field 1 of every object of the API. */
function readMetadata(raw: Uint8Array): unknown {
  const fields = new MessageReader(raw);
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) return { metadata: readObjectMeta(fields.message()) };
    fields.skip();
  }
  return undefined;
}
