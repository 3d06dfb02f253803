// SPDX-License-Identifier: Apache-2.0
import { keyObjectOf } from '#pki/keys/public-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import type { Authority, AuthorityFacts, AuthorityMaterial } from './contract.ts';
import { invalid, readFacts, readingSecretKey } from './facts.ts';

/**
 * Opens the public half of a CA whose key is in a key holder. It signs nothing.
 *
 * @throws SignerError (`authority`) as {@link readFacts}
 */
export function openPublicHalf(
  material: AuthorityMaterial,
  now: number,
  maxSignatures?: number,
): Authority {
  return {
    facts: publicFacts(material, now, maxSignatures),
    sign: () =>
      Promise.reject(
        invalid(
          'its key is in a key holder, which this component does not use',
          'AUTHORITY_MISSING',
        ),
      ),
  };
}

/** Reads the public half of a CA without its key. */
export function publicFacts(
  material: AuthorityMaterial,
  now: number,
  maxSignatures: number | undefined,
): AuthorityFacts {
  return readFacts(material, { now, maxSignatures, algorithmOf }).facts;
}

function algorithmOf({ publicKey }: Certificate): { readonly der: Uint8Array } {
  return readingSecretKey('tls.crt', () => signatureAlgorithm(keyObjectOf(publicKey)));
}
