// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../bounded-map.ts';
import type { Certificate } from '../pki/x509/certificate.ts';

/** A CA has a handful of chains and bundles; more at once are not worth their memory. */
const MOST = 32;

/** Reads the same PEM text once; what cannot be read is tried again. */
export function memoPem(
  read: (pem: string) => readonly Certificate[],
): (pem: string) => readonly Certificate[] {
  const known = new BoundedMap<string, readonly Certificate[]>(MOST);
  return (pem) => {
    const before = known.get(pem);
    if (before !== undefined) return before;
    const certificates = read(pem);
    known.set(pem, certificates);
    return certificates;
  };
}
