// SPDX-License-Identifier: Apache-2.0
/**
 * Fields that the API server drops from a Countersign or a CertManagerDeployment, because their
 * definitions do not know them. The operator never sees them.
 */
import { isRecord } from '#base/record.ts';
import knownFields from './known-fields.json' with { type: 'json' };

/** Fields of an object by name. An empty record allows every field. */
export interface KnownFields {
  readonly [field: string]: KnownFields;
}

/** Key for all fields of an object whose writer chooses their names, such as labels. */
export const ANY_FIELD = '*';

const KINDS: Readonly<Record<string, KnownFields>> = knownFields;

/** Returns the paths of the unknown fields. Undefined for an object of another kind. */
export function unknownFields(
  object: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  const { kind } = object;
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) return undefined;
  return unknownUnder(object, KINDS[kind] ?? {}, '');
}

function unknownUnder(value: unknown, known: KnownFields, path: string): readonly string[] {
  if (Object.keys(known).length === 0) return [];
  if (Array.isArray(value)) {
    // No field has lists of lists. Aliases of YAML can make a list that contains itself.
    const items: readonly unknown[] = value;
    return items.flatMap((each, index) =>
      isRecord(each) ? unknownUnder(each, known, `${path}[${index}]`) : [],
    );
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([field, each]) => {
    const at = path === '' ? field : `${path}.${field}`;
    const fields = Object.hasOwn(known, field) ? known[field] : known[ANY_FIELD];
    return fields === undefined ? [at] : unknownUnder(each, fields, at);
  });
}
