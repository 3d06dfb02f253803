// SPDX-License-Identifier: Apache-2.0
/** A release of cert-manager as a user hands it over: `cert-manager.yaml`, compressed. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { parseDocument } from 'yaml';
import { messageOf } from '../../errors.ts';
import type { Refusal } from '../../installing/desired.ts';
import { printable, quote } from '../../quote.ts';
import { digestOf } from '../../reconciling/objects/digest.ts';
import { isKnownKind } from '../../reconciling/objects/kinds.ts';
import { isRecord, titleOf, type ManagedObject } from '../../reconciling/objects/managed-object.ts';

/** Bytes of a release, unpacked. 1.21.2 has 1.03 million. */
const MAX_RELEASE_BYTES = 4 * 1024 * 1024;
/** Objects of a release. 1.20.3 has 49. */
const MAX_OBJECTS = 200;

/** `---` alone on its line, as helm and the release's build write it; at the start of a line in no text of a release. */
const SEPARATOR = /^---[ \t]*$/m;

/**
 * The objects of a release file.
 *
 * @param file - gzip of YAML documents
 * @returns them, or why not. It may be any text: nothing is known of it yet
 */
export async function unpackRelease(file: Uint8Array): Promise<readonly ManagedObject[] | Refusal> {
  const text = unpacked(file);
  if (typeof text !== 'string') return text;
  const documents = text.split(SEPARATOR);
  if (documents.length > MAX_OBJECTS) return invalid(`it has more than ${MAX_OBJECTS} documents`);
  const objects: ManagedObject[] = [];
  for (const [index, document] of documents.entries()) {
    // A release takes a second or two, and a leader has a Lease to renew meanwhile.
    await nextTurn();
    const value = parsed(document);
    if (value === null) continue;
    if (!isObject(value))
      return invalid(`its document ${index + 1} is no object, or it is cut off`);
    if (!isKnownKind(value))
      return invalid(`${printable(titleOf(value))} is of a kind that is not installed`);
    objects.push(value);
  }
  return objects;
}

function unpacked(file: Uint8Array): string | Refusal {
  try {
    const bytes = gunzipSync(file, { maxOutputLength: MAX_RELEASE_BYTES });
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof RangeError)
      return invalid(`unpacked, it is larger than ${MAX_RELEASE_BYTES} bytes`);
    return invalid(`it is no whole gzip of UTF-8: ${messageOf(error)}`);
  }
}

/** Null for an empty document. */
function parsed(text: string): unknown {
  try {
    // To look for keys that are there twice takes the square of their number: hours for a megabyte. The sum is of what was read.
    const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: false });
    if (document.errors.length > 0) return undefined;
    // What is summed is what is sent: a date of YAML 1.1 has the sum of {} and is sent as a text.
    return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 0 }))) as unknown;
  } catch {
    // Aliases: a release has none. Or it is nested too deeply.
    return undefined;
  }
}

function isObject(value: unknown): value is ManagedObject {
  if (!isRecord(value)) return false;
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isRecord(metadata))
    return false;
  const { name, namespace = '' } = metadata;
  return typeof name === 'string' && typeof namespace === 'string';
}

function invalid(message: string): Refusal {
  return {
    reason: 'ManifestInvalid',
    message: `the release file is not taken: ${printable(message)}`,
  };
}

/**
 * What identifies a release: SHA-256, as hex, of the canonical JSON of its objects in a fixed order. Comments, spaces,
 * the order and whether helm or the release's build wrote it make no difference.
 */
export function releaseSum(objects: readonly ManagedObject[]): string {
  const key = (object: ManagedObject): string => `${object.apiVersion} ${titleOf(object)}`;
  return digestOf(objects.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
}

/**
 * Refuses what is not the release: whoever could hand over another one would be cluster-admin.
 *
 * @param sums - version → sum
 */
export function refuseRelease(
  version: string,
  objects: readonly ManagedObject[],
  sums: Readonly<Record<string, string>>,
): Refusal | undefined {
  const sum = releaseSum(objects);
  if (sums[version] === sum) return undefined;
  const [known] = Object.entries(sums).find(([, each]) => each === sum) ?? [];
  const what =
    known === undefined
      ? `its objects have the sum ${sum}, which is that of no known release: it was changed or cut off`
      : `it is ${known}`;
  return {
    reason: 'ManifestUnknown',
    message: `the release file is not cert-manager ${quote(version, 64)}: ${what}; use the file of that release as it was published`,
  };
}
