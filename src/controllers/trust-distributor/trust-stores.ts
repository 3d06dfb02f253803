// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import { encodeTrustStore } from '../../keystores/trust-store.ts';
import { certificateBlocks } from '../../pki/x509/trust-bundle.ts';

/** More than an installation publishes bundles; each costs two derivations of a key. */
const MAX_STORES = 64;

/** PKCS#12 truststores of anchors, each encoded once. */
export interface TrustStores {
  /** Standard base64, of anchors in PEM. */
  readonly of: (text: string) => Promise<string>;
}

/** Truststores by the text of their anchors. */
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
  return Buffer.from(await encodeTrustStore(certificateBlocks(text))).toString('base64');
}
