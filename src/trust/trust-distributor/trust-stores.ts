// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';

/**
 * Exceeds the number of bundles that an installation publishes. Encoding a store takes two key
 * derivations.
 */
const MAX_STORES = 64;

/** PKCS#12 truststores of anchors, each encoded once. */
export interface TrustStores {
  /** Returns the truststore of PEM anchors in standard base64. */
  readonly of: (text: string) => Promise<string>;
}

/** Caches truststores by the PEM of their anchors. */
export function createTrustStores(): TrustStores {
  const stores = new BoundedMap<string, Promise<string>>(MAX_STORES);
  return {
    of: (text) => {
      const made = stores.get(text) ?? encoded(text);
      void stores.set(text, made);
      return made;
    },
  };
}

async function encoded(text: string): Promise<string> {
  // Imported only here, because most targets have no truststore.
  const { encodeTrustStore } = await import('#pki/keystores/trust-store.ts');
  return Buffer.from(await encodeTrustStore(certificateBlocks(text))).toString('base64');
}
