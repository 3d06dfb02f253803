// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import type { Certificate } from '../../pki/x509/certificate.ts';

/** A CA has a handful of chains and bundles; more at once are not worth their memory. */
const MAX_CACHED_TEXTS = 32;

/**
 * Caches what `read` makes of a PEM text, by the text. Errors are not cached.
 *
 * @param read - may throw; the returned function then throws the same
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
