// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import type { Certificate } from '#pki/x509/certificate.ts';

/** Limit on cached texts. A CA has a handful of chains and bundles. */
const MAX_CACHED_TEXTS = 32;

/**
 * Caches the results of `read` by PEM text. Errors are not cached.
 *
 * @param read - may throw. The returned function then throws the same error
 */
export function cachedPemReader(
  read: (pem: string) => readonly Certificate[],
): (pem: string) => readonly Certificate[] {
  const known = new BoundedMap<string, readonly Certificate[]>(MAX_CACHED_TEXTS);
  return (pem) => {
    const before = known.get(pem);
    if (before !== undefined) return before;
    const certificates = read(pem);
    known.set(pem, certificates);
    return certificates;
  };
}
