// SPDX-License-Identifier: Apache-2.0

/** Where a kind lives in the API. */
export interface ResourceInit {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export interface Resource extends ResourceInit {
  /** `certificates.k8s.io/v1`, or `v1` for the core group. */
  readonly apiVersion: string;
  /** Path of the collection: of one namespace, or of all. */
  collection(namespace?: string): string;
  /** Path of one object, or of a subresource of it. */
  object(reference: { namespace?: string | undefined; name: string }, subresource?: string): string;
}

/** The paths of one resource. Names are escaped: they come from objects that others wrote. */
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
