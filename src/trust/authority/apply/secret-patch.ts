// SPDX-License-Identifier: Apache-2.0
import type { ConfigMap, Secret } from '#api/object/object.ts';
import type { SecretChange } from './managed-secret.ts';

/** A JSON Patch operation (RFC 6902). */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

export const JSON_PATCH = 'application/json-patch+json';

/** {@link objectPatch} of a Secret, whose data is base64. */
export function secretPatch(secret: Secret, change: SecretChange): readonly PatchOperation[] {
  const data = Object.entries(change.data).map(
    ([key, text]) => [key, text === null ? null : Buffer.from(text).toString('base64')] as const,
  );
  return objectPatch(secret, { ...change, data: Object.fromEntries(data) });
}

/**
 * Returns a patch with only the differences, so keys and annotations of others stay. Its
 * precondition makes the API server answer 409 if the object has another version.
 *
 * @param change - its data as the API has it
 */
export function objectPatch(
  object: Secret | ConfigMap,
  change: SecretChange,
): readonly PatchOperation[] {
  const { labels, annotations, resourceVersion } = object.metadata;
  return [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ...mapOperations('/metadata/labels', labels, Object.entries(change.labels)),
    ...mapOperations('/metadata/annotations', annotations, Object.entries(change.annotations)),
    ...mapOperations('/data', object.data, Object.entries(change.data)),
  ];
}

function mapOperations(
  path: string,
  before: Readonly<Record<string, string>> | undefined,
  entries: readonly (readonly [string, string | null])[],
): readonly PatchOperation[] {
  const operations = entries.flatMap(([key, value]): PatchOperation[] => {
    const was = before?.[key];
    const at = `${path}/${escaped(key)}`;
    if (value === null) return was === undefined ? [] : [{ op: 'remove', path: at }];
    return was === value ? [] : [{ op: 'add', path: at, value }];
  });
  // `add` requires the map to exist.
  return before === undefined && operations.length > 0
    ? [{ op: 'add', path, value: {} }, ...operations]
    : operations;
}

/** Escapes a JSON pointer token (RFC 6901 §3). */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
