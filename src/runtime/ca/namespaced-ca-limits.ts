// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../../api/object/object.ts';
import { CROSS_CERTIFICATE } from '../../api/signer/rotation-annotations.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { AuthorityFacts } from '../../authorities/contract.ts';
import { SignerError } from '../../errors.ts';

/**
 * What a namespace's CA may cost. All signers share a process: to read a Secret of a mebibyte takes
 * parts of a second, each time that it is changed, and so does each signature by a key of 16384 bits.
 * A ClusterSigner's CA is its administrator's choice; a Signer's is anybody's who may write one.
 */
const MAX_MATERIAL_CHARACTERS = 65_536;
/** The largest of `keyType`. */
const MAX_NAMESPACED_RSA_BITS = 4096;

/** All that is read of it, whether it is used or not. */
const MATERIAL = ['tls.crt', 'tls.key', 'ca.crt', CROSS_CERTIFICATE] as const;

/** Asked before the Secret is opened. */
export function checkMaterialSize(
  signer: ClusterSigner,
  { data = {} }: Secret,
): SignerError | undefined {
  if (!isNamespaced(signer)) return undefined;
  const size = MATERIAL.reduce((sum, key) => sum + (data[key]?.length ?? 0), 0);
  if (size <= MAX_MATERIAL_CHARACTERS) return undefined;
  return invalid(
    `${MATERIAL.join(', ')} make ${size} characters; of a Signer's Secret they may make ${MAX_MATERIAL_CHARACTERS}`,
  );
}

/** Asked before anything is signed. */
export function checkKeySize(
  signer: ClusterSigner,
  { certificate: { publicKey } }: AuthorityFacts,
): SignerError | undefined {
  const { algorithm, bits } = publicKey;
  if (!isNamespaced(signer) || algorithm !== 'RSA' || bits <= MAX_NAMESPACED_RSA_BITS)
    return undefined;
  return invalid(
    `its CA has an RSA key of ${bits} bits, by which each signature takes long; a Signer's may have ${MAX_NAMESPACED_RSA_BITS}`,
  );
}

function invalid(message: string): SignerError {
  return new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message });
}
