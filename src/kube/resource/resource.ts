// SPDX-License-Identifier: Apache-2.0

/** Group, version and plural of a kind. */
export interface ResourceInit {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/** The URL paths of a kind. */
export interface Resource extends ResourceInit {
  /** `certificates.k8s.io/v1`, or `v1` for the core group. */
  readonly apiVersion: string;
  /** Path of the collection, of one namespace or of all. Names are escaped. */
  collection(namespace?: string): string;
  /** Path of one object, or of one of its subresources. */
  object(reference: { namespace?: string | undefined; name: string }, subresource?: string): string;
}

/** @returns the paths of a kind. They escape names, because other programs write those. */
export function resource(init: ResourceInit): Resource {
  const { group, version, plural } = init;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = (namespace?: string): string =>
    namespace === undefined
      ? `${root}/${plural}`
      : `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return {
    ...init,
    apiVersion: group === '' ? version : `${group}/${version}`,
    collection,
    object: ({ namespace, name }, subresource) => {
      const path = `${collection(namespace)}/${encodeURIComponent(name)}`;
      return subresource === undefined ? path : `${path}/${subresource}`;
    },
  };
}
