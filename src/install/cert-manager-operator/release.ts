// SPDX-License-Identifier: Apache-2.0
/** A release of cert-manager as a user provides it: `cert-manager.yaml`, compressed. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { parseDocument } from 'yaml';
import { messageOf } from '#base/errors.ts';
import type { Refusal } from '../reconcile/desired.ts';
import { printable, quote } from '#base/quote.ts';
import { digestOf } from '#kube/apply/objects/digest.ts';
import { isKnownKind } from '#kube/apply/objects/kinds.ts';
import { isRecord } from '#base/record.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { DEPLOYMENTS } from './overrides.ts';
import type { ReleaseRow } from './releases.ts';
import * as messages from './messages.ts';

/** Limit of an unpacked release in bytes. 1.21.2 has 1.03 million. */
export const MAX_RELEASE_BYTES = 4 * 1024 * 1024;
/** Limit of objects in a release. 1.20.3 has 49. */
const MAX_OBJECTS = 200;

/**
 * `---` alone on its line, as helm and the release's build write it. No text in a release has it at
 * the start of a line.
 */
const SEPARATOR = /^---[ \t]*$/m;

/**
 * Returns the objects of a release file, or the reason of a refusal.
 *
 * @param file - gzip of YAML documents, untrusted
 */
export async function unpackRelease(file: Uint8Array): Promise<readonly ManagedObject[] | Refusal> {
  const text = unpacked(file);
  if (typeof text !== 'string') return text;
  const documents = text.split(SEPARATOR);
  if (documents.length > MAX_OBJECTS) return invalid(messages.tooManyDocuments(MAX_OBJECTS));
  const objects: ManagedObject[] = [];
  for (const [index, document] of documents.entries()) {
    // Yield: a release takes a second or two, and a leader must renew its Lease meanwhile.
    await nextTurn();
    const value = parsed(document);
    if (value === null) continue;
    if (!isObject(value)) return invalid(messages.notAnObject(index + 1));
    if (!isKnownKind(value)) return invalid(messages.unknownKind(titleOf(value)));
    objects.push(value);
  }
  return objects;
}

function unpacked(file: Uint8Array): string | Refusal {
  try {
    const bytes = gunzipSync(file, { maxOutputLength: MAX_RELEASE_BYTES });
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof RangeError) return invalid(messages.tooLarge(MAX_RELEASE_BYTES));
    return invalid(messages.notGzip(messageOf(error)));
  }
}

/** Parses a document. Returns null for an empty one. */
function parsed(text: string): unknown {
  try {
    // The search for duplicate keys takes quadratic time: hours for a megabyte. The sum covers the
    // parsed objects.
    const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: false });
    if (document.errors.length > 0) return undefined;
    // Sum the same JSON that is sent: a YAML 1.1 date would have the sum of {} but be sent as text.
    const sent: unknown = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 0 })));
    return sent;
  } catch {
    // The document has aliases, which no release has, or is nested too deeply.
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
    message: messages.releaseRejected(message),
  };
}

/**
 * Returns the identity of a release: SHA-256, as hex, of the canonical JSON of its objects in a
 * fixed order. Comments, spaces, the order and the tool that wrote it (helm or the release's build)
 * make no difference.
 */
export function releaseSum(objects: readonly ManagedObject[]): string {
  const key = (object: ManagedObject): string => `${object.apiVersion} ${titleOf(object)}`;
  return digestOf(objects.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
}

/** Hex digits of an object's digest that locate a difference. Only the sum decides. */
const PART_DIGITS = 16;

/** Returns the title of each object with the beginning of its digest. */
export function releaseParts(objects: readonly ManagedObject[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    objects.map((object) => [titleOf(object), digestOf(object).slice(0, PART_DIGITS)]),
  );
}

/** Returns the version in a release file, from its controller, or undefined without one. */
export function versionNamedIn(objects: readonly ManagedObject[]): string | undefined {
  const controller = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === DEPLOYMENTS.controller,
  );
  const label = controller?.metadata.labels?.['app.kubernetes.io/version'];
  return /^v(\d{1,9}(?:\.\d{1,9}){2})$/.exec(String(label))?.[1];
}

/** The known releases. */
export interface ReleaseSums {
  /** Version → sum of the accepted releases. */
  readonly sums: Readonly<Record<string, string>>;
  /** Rows by version, accepted or not. */
  readonly rows: Readonly<Record<string, ReleaseRow>>;
}

/**
 * Rejects a file that is not an accepted release: another file could make its author cluster-admin.
 */
export function refuseRelease(
  version: string,
  objects: readonly ManagedObject[],
  known: ReleaseSums,
): Refusal | undefined {
  const sum = releaseSum(objects);
  const accepted = ownValue(known.sums, version);
  if (accepted === sum) return undefined;
  const row = ownValue(known.rows, version);
  const other = versionOf(sum, known);
  if (accepted === undefined && row !== undefined && (other ?? version) === version)
    return unconfirmed(version, objects, row);
  const what =
    other === undefined || other === version
      ? messages.unknownSum(sum, differences(objects, row?.parts))
      : messages.isVersion(other);
  return {
    reason: 'ManifestUnknown',
    message: messages.wrongRelease(version, what),
  };
}

/**
 * Returns an own property. A version is any text, including names of Object's inherited members.
 */
function ownValue<T>(of: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}

/** Returns the version whose objects have that sum. */
function versionOf(sum: string, { sums, rows }: ReleaseSums): string | undefined {
  const all = [
    ...Object.entries(sums),
    ...Object.entries(rows).map(([version, row]) => [version, row.sum] as const),
  ];
  return all.find(([, each]) => each === sum)?.[0];
}

/**
 * Returns the refusal with the sum. The user compares the file with the release, and passes that
 * sum.
 */
function unconfirmed(version: string, objects: readonly ManagedObject[], row: ReleaseRow): Refusal {
  const sum = releaseSum(objects);
  const made =
    sum === row.sum
      ? messages.SAME_AS_MODULE
      : messages.otherThanModule(differences(objects, row.parts));
  return {
    reason: 'ReleaseUnconfirmed',
    message: messages.confirmRelease(unconfirmedMessage(version, row), sum, made, version),
  };
}

/**
 * Returns the message for a release that needs the user's confirmation.
 *
 * @param version - of a row
 */
export function unconfirmedMessage(version: string, { sources }: ReleaseRow): string {
  return messages.unconfirmed(version, sources.length);
}

/** Objects that a message names for each kind of difference. It counts the rest. */
const MAX_DIFFERENCES_NAMED = 5;

/**
 * Returns differences between a file and the release, in the order of the file, which is untrusted.
 */
function differences(
  objects: readonly ManagedObject[],
  known: Readonly<Record<string, string>> | undefined,
): string {
  if (known === undefined) return messages.UNKNOWN_DIFFERENCES;
  const expected = new Map(Object.entries(known));
  const given = new Map(Object.entries(releaseParts(objects)));
  const twice = objects.length - given.size;
  const named = [
    namesOf(
      'changed',
      [...given].filter(([title, part]) => (expected.get(title) ?? part) !== part),
    ),
    namesOf(
      'missing',
      [...expected].filter(([title]) => !given.has(title)),
    ),
    namesOf(
      'additional',
      [...given].filter(([title]) => !expected.has(title)),
    ),
    ...(twice > 0 ? [messages.duplicates(twice)] : []),
  ].filter((each) => each !== '');
  return `: ${named.join('; ')}`;
}

function namesOf(
  how: string,
  entries: readonly (readonly [title: string, part: string])[],
): string {
  if (entries.length === 0) return '';
  const names = entries
    .slice(0, MAX_DIFFERENCES_NAMED)
    .map(([title]) => printable(quote(title, 128)));
  const more = entries.length - names.length;
  return messages.differing(how, names, more);
}
