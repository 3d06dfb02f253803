// SPDX-License-Identifier: Apache-2.0
/**
 * Encodes PKCS#12 files with anchors and nothing else. The same anchors always give the same bytes.
 */
import { createHash, webcrypto } from 'node:crypto';
import { encodePkcs12 } from './encode-pkcs12.ts';

/**
 * The default password of Java's truststores. Anchors are public: it keeps no secret, and it
 * authenticates the author no better than a checksum does.
 */
const TRUST_STORE_PASSWORD = 'changeit';

/** Characters of a fingerprint in an alias: enough to be unique. */
const ALIAS_DIGITS = 16;

/**
 * Encodes anchors as a PKCS#12 file that Java accepts as a truststore. Salts derive from the
 * anchors, so that equal anchors give equal bytes.
 *
 * @param anchors - DER, in the order of the file
 */
export function encodeTrustStore(anchors: readonly Uint8Array[]): Promise<Uint8Array> {
  const trusted = anchors.map((certificate) => ({
    alias: hexDigest(certificate).slice(0, ALIAS_DIGITS),
    certificate,
  }));
  const random = derivedFrom(trusted.map(({ certificate }) => hexDigest(certificate)).join());
  return encodePkcs12({ trusted }, TRUST_STORE_PASSWORD, random);
}

function hexDigest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns a source of bytes by SHA-256 of the seed and a counter, in place of random ones. */
function derivedFrom(seed: string): Pick<webcrypto.Crypto, 'subtle' | 'getRandomValues'> {
  let count = 0;
  const { subtle } = webcrypto;
  return {
    subtle,
    getRandomValues: (array) => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at += 32) {
        const block = createHash('sha256').update(`${seed}/${count}`).digest();
        bytes.set(block.subarray(0, bytes.length - at), at);
        count += 1;
      }
      return array;
    },
  };
}
