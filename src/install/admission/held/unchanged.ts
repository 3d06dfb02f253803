// SPDX-License-Identifier: Apache-2.0
/**
 * CEL that compares a whole subtree except the entries that may change, so that it also protects
 * fields of future versions.
 */

/** Fields of `metadata` that the API server writes or protects from changes. */
export const WRITTEN_BY_SERVER = [
  'creationTimestamp',
  'generation',
  'managedFields',
  'name',
  'namespace',
  'resourceVersion',
  'uid',
] as const;

/** Fields that identify the type of every object. */
const TYPE_META = ['apiVersion', 'kind'] as const;

/**
 * Returns CEL that requires a map to be unchanged, except entries that may be added, changed or
 * removed. The old value of a new object is empty.
 *
 * @param path - from the object on, such as `spec.template`. Empty for the object itself.
 * @param mayChange - keys of entries, or a condition on the key `k`
 */
export function sameBut(path: string, mayChange: readonly string[] | string): string {
  const may =
    typeof mayChange === 'string'
      ? mayChange
      : `k in [${mayChange.map((each) => `'${each}'`).join(', ')}]`;
  const [now, before] = [mapAt('object', path), mapAt('oldObject', path)];
  return [
    `${now}.all(k, ${may} || ${before}[?k] == optional.of(${now}[k]))`,
    `&& ${before}.all(k, ${may} || k in ${now})`,
  ].join('\n');
}

/**
 * Returns CEL that requires unchanged metadata, except these fields and those that the API server
 * writes.
 */
export function sameMetadataBut(...mayChange: readonly string[]): string {
  return sameBut('metadata', [...WRITTEN_BY_SERVER, ...mayChange]);
}

/** Returns CEL that denies new fields of the object, such as `immutable`, except these. */
export function sameObjectBut(...mayChange: readonly string[]): string {
  return sameBut('', [...TYPE_META, 'metadata', ...mayChange]);
}

function mapAt(object: 'object' | 'oldObject', path: string): string {
  const steps =
    path === ''
      ? ''
      : path
          .split('.')
          .map((each) => `.?${each}`)
          .join('');
  const found = steps === '' ? object : `${object}${steps}.orValue({})`;
  return object === 'object' ? found : `(oldObject == null ? {} : ${found})`;
}
