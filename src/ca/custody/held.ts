// SPDX-License-Identifier: Apache-2.0
/** CAs whose keys are in a key holder. */
import { sameBytes } from '#base/bytes.ts';
import { encodeCertificate } from '#pki/x509/encode-certificate.ts';
import { PreparedCertificate } from '../issuance/prepare.ts';
import type { Authority, AuthorityFacts, HeldKeyReference, OpenAuthority } from './contract.ts';
import { invalid } from './facts.ts';
import type { HeldKeyFacts, KeyHolder } from './holder-client.ts';
import { openLocalAuthority } from './local.ts';
import { publicFacts } from './public-half.ts';

/**
 * Returns the function that opens CAs: those with a key in memory, and those with a key in a
 * holder.
 *
 * @param holder - undefined if the component has none
 */
export function openWithHolder(holder: KeyHolder | undefined): OpenAuthority {
  return (material, now, maxSignatures) => {
    const { heldKey } = material;
    if (heldKey === undefined) return openLocalAuthority(material, now, maxSignatures);
    if (holder === undefined) {
      throw invalid(
        `its key ${heldKey.name} is in a key holder, and this component runs without --key-holder`,
        'AUTHORITY_MISSING',
      );
    }
    return heldAuthority(publicFacts(material, now, maxSignatures), heldKey, holder);
  };
}

/**
 * Checks that a key of a holder is that of a CA, and may be used for its signer.
 *
 * @throws SignerError AUTHORITY_INVALID (`authority`)
 */
export function requireHeldKey(
  { spki, signerNames }: HeldKeyFacts,
  { certificate }: Pick<AuthorityFacts, 'certificate'>,
  { name, signerName }: HeldKeyReference,
): void {
  if (!sameBytes(spki, certificate.publicKey.spki)) {
    throw invalid(`key ${name} of the key holder is not the key of the CA certificate`);
  }
  // The consent of the key's owner, as the annotation of a CA Secret.
  if (!signerNames.includes(signerName)) {
    throw invalid(`signerNames of key ${name} in the key holder lack ${signerName}`);
  }
}

function heldAuthority(
  facts: AuthorityFacts,
  heldKey: HeldKeyReference,
  holder: KeyHolder,
): Authority {
  const { name } = heldKey;
  return {
    facts,
    heldKey,
    sign: async (prepared: PreparedCertificate) => {
      requireHeldKey(await holder.describe(name), facts, heldKey);
      const tbs = PreparedCertificate.consume(prepared, facts.fingerprint);
      const signature = await holder.sign(name, 'leaf', tbs);
      return encodeCertificate(tbs, facts.signatureAlgorithm, signature);
    },
  };
}
