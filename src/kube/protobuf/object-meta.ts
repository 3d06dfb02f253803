// SPDX-License-Identifier: Apache-2.0
import type { MessageReader } from './reader.ts';
import { readTime, timeMessage } from './time.ts';
import { bytesField, message, stringField } from './writer.ts';

/** `metav1.ObjectMeta` without owners. Objects in JSON keep those, too. */
export interface ObjectMeta {
  readonly name: string;
  /** The prefix from which the API server generated the name. */
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** RFC 3339, whole seconds. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Absent in objects that were read in protobuf, as are managedFields. */
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** `metav1.ManagedFieldsEntry`: one client's last write of some fields. `time` is the server's. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

/** Fields of `metav1.ObjectMeta` by their numbers (apimachinery, meta/v1/generated.proto). */
const TEXTS = {
  1: 'name',
  2: 'generateName',
  3: 'namespace',
  5: 'uid',
  6: 'resourceVersion',
} as const;
const GENERATION = 7;
const TIMES = { 8: 'creationTimestamp', 9: 'deletionTimestamp' } as const;
const MAPS = { 11: 'labels', 12: 'annotations' } as const;

/** Reads an ObjectMeta. Empty strings are absent, as in JSON. @throws SyntaxError */
export function readObjectMeta(fields: MessageReader): ObjectMeta {
  const metadata: Mutable<ObjectMeta> = {
    name: '',
    uid: '',
    resourceVersion: '',
    creationTimestamp: '',
  };
  const maps: { readonly labels: MapEntry[]; readonly annotations: MapEntry[] } = {
    labels: [],
    annotations: [],
  };
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (isOneOf(TEXTS, field)) {
      const text = fields.string();
      if (text !== '') metadata[TEXTS[field]] = text;
    } else if (isOneOf(TIMES, field)) metadata[TIMES[field]] = readTime(fields.message());
    else if (isOneOf(MAPS, field)) maps[MAPS[field]].push(readMapEntry(fields.message()));
    else if (field === GENERATION) withNumber(fields, (number) => (metadata.generation = number));
    else fields.skip();
  }
  if (maps.labels.length > 0) metadata.labels = Object.fromEntries(maps.labels);
  if (maps.annotations.length > 0) metadata.annotations = Object.fromEntries(maps.annotations);
  return metadata;
}

/** Reports whether a table has a row for this field. */
export function isOneOf<T extends object>(table: T, field: number): field is keyof T & number {
  return field in table;
}

function withNumber(fields: MessageReader, set: (number: number) => void): void {
  const number = fields.integer();
  if (number !== 0) set(number);
}

/** One entry of a `map<string, string>`. */
export type MapEntry = readonly [key: string, value: string];

/** Reads one entry of a `map<string, string>`. @throws SyntaxError */
export function readMapEntry(fields: MessageReader): MapEntry {
  let key = '';
  let value = '';
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) key = fields.string();
    else if (field === 2) value = fields.string();
    else fields.skip();
  }
  return [key, value];
}

/** Encodes the fields of an ObjectMeta that identify an object and its version for a write. */
export function objectMetaMessage(metadata: ObjectMeta): Uint8Array {
  return message(
    stringField(1, metadata.name),
    stringField(2, metadata.generateName),
    stringField(3, metadata.namespace),
    stringField(5, metadata.uid),
    stringField(6, metadata.resourceVersion),
    bytesField(8, timeMessage(metadata.creationTimestamp)),
  );
}
