// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../../api/object/object.ts';
import { CROSS_CERTIFICATE } from '../../api/signer/rotation-annotations.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { AuthorityFacts } from '../../authorities/contract.ts';
import { SignerError } from '../../errors.ts';

/**
 * Characters of base64. All signers share a process: reading a Secret of a mebibyte takes a good part of a
 * second after each change, and so does each signature by a key of 16384 bits. A cluster administrator chooses
 * the CA of a ClusterSigner; that of a Signer comes from any user of its namespace.
 */
const MAX_MATERIAL_CHARACTERS = 65_536;
/** The largest RSA key that `keyType` offers. */
const MAX_NAMESPACED_RSA_BITS = 4096;

/** The keys of a Secret that are read. */
const MATERIAL = ['tls.crt', 'tls.key', 'ca.crt', CROSS_CERTIFICATE] as const;

/** Why the Secret of a Signer is too large to be opened; undefined if it is not. */
export function checkMaterialSize(
  signer: ClusterSigner,
  { data = {} }: Secret,
): SignerError | undefined {
  if (!isNamespaced(signer)) return undefined;
  const size = MATERIAL.reduce((sum, key) => sum + (data[key]?.length ?? 0), 0);
  if (size <= MAX_MATERIAL_CHARACTERS) return undefined;
  return invalid(
    `${MATERIAL.join(', ')} have ${size} characters together; the Secret of a Signer may have ${MAX_MATERIAL_CHARACTERS}`,
  );
}

/** Why the key of a Signer's CA is too slow to sign with; undefined if it is not. */
export function checkKeySize(
  signer: ClusterSigner,
  { certificate: { publicKey } }: AuthorityFacts,
): SignerError | undefined {
  const { algorithm, bits } = publicKey;
  if (!isNamespaced(signer) || algorithm !== 'RSA' || bits <= MAX_NAMESPACED_RSA_BITS)
    return undefined;
  return invalid(
    `its CA has an RSA key of ${bits} bits, which signs slowly; the CA of a Signer may have ${MAX_NAMESPACED_RSA_BITS}`,
  );
}

function invalid(message: string): SignerError {
  return new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message });
}
