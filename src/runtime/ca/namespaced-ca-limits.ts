// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../../api/object/object.ts';
import { CROSS_CERTIFICATE } from '../../api/signer/rotation-annotations.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { AuthorityFacts } from '../../authorities/contract.ts';
import { SignerError } from '../../errors.ts';
import { fingerprint } from '../../pki/x509/certificate.ts';

/**
 * Characters of base64. All signers share a process: reading a Secret of a mebibyte takes a good part of a
 * second after each change, and so does each signature by a key of 16384 bits. A cluster administrator chooses
 * the CA of a ClusterSigner; that of a Signer comes from any user of its namespace.
 */
const MAX_MATERIAL_CHARACTERS = 65_536;
/** The largest RSA key that `keyType` offers. */
const MAX_NAMESPACED_RSA_BITS = 4096;

/** A rotation needs two. The way to an anchor is searched when a CA is opened, among all of one name. */
const MAX_NAMESPACED_ANCHORS = 8;
/**
 * How many signatures are verified when a Signer's CA is opened: a P-521 one takes 1.5 ms. A usual way to an anchor has
 * two; each certificate of the wanted name and another key takes one more.
 */
const MAX_NAMESPACED_SIGNATURES = 8;
/** Of all its certificates: each leaf's names, up to 100, are compared with each of them. */
const MAX_NAMESPACED_SUBTREES = 32;

/** How many signatures opening the CA of this signer may verify; undefined: as many as any path. */
export function maxSignaturesOf(signer: ClusterSigner): number | undefined {
  return isNamespaced(signer) ? MAX_NAMESPACED_SIGNATURES : undefined;
}

/** The keys of a Secret that are read. */
const MATERIAL = ['tls.crt', 'tls.key', 'ca.crt', CROSS_CERTIFICATE] as const;

/** Why the Secret of a Signer is too large to be opened; undefined if it is not. */
export function checkMaterial(signer: ClusterSigner, secret: Secret): SignerError | undefined {
  if (!isNamespaced(signer)) return undefined;
  const before = checked.get(secret);
  if (before !== undefined) return before.fault;
  const fault = materialFault(secret);
  checked.set(secret, { fault });
  return fault;
}

/** Once for each version of a Secret, not for each leaf: cached objects are replaced, never changed. */
const checked = new WeakMap<Secret, { readonly fault: SignerError | undefined }>();

function materialFault({ data = {} }: Secret): SignerError | undefined {
  const size = MATERIAL.reduce((sum, key) => sum + (data[key]?.length ?? 0), 0);
  if (size > MAX_MATERIAL_CHARACTERS) {
    return invalid(
      `${MATERIAL.join(', ')} have ${size} characters together; the Secret of a Signer may have ${MAX_MATERIAL_CHARACTERS}`,
    );
  }
  const anchors = Buffer.from(data['ca.crt'] ?? '', 'base64').toString('latin1');
  const count = anchors.split('-----BEGIN ').length - 1;
  if (count <= MAX_NAMESPACED_ANCHORS) return undefined;
  return invalid(
    `ca.crt has ${count} trust anchors; that of a Signer may have ${MAX_NAMESPACED_ANCHORS}: remove those that its CA does not chain to`,
  );
}

/** Why a Signer's CA would delay others with each leaf; undefined if it would not. */
export function checkCa(signer: ClusterSigner, facts: AuthorityFacts): SignerError | undefined {
  if (!isNamespaced(signer)) return undefined;
  const before = costs.get(facts);
  if (before !== undefined) return before.fault;
  const fault = costFault(facts);
  costs.set(facts, { fault });
  return fault;
}

/** Once for each opened CA, not for each leaf. */
const costs = new WeakMap<AuthorityFacts, { readonly fault: SignerError | undefined }>();

function costFault({
  certificate,
  intermediates,
  anchors,
}: AuthorityFacts): SignerError | undefined {
  const { algorithm, bits } = certificate.publicKey;
  if (algorithm === 'RSA' && bits > MAX_NAMESPACED_RSA_BITS) {
    return invalid(
      `its CA has an RSA key of ${bits} bits, which signs slowly; the CA of a Signer may have ${MAX_NAMESPACED_RSA_BITS}`,
    );
  }
  const all = [certificate, ...intermediates, ...anchors];
  const each = new Map(all.map((one) => [fingerprint(one.raw), one.nameConstraints]));
  const count = [...each.values()].reduce(
    (sum, found) => sum + (found?.permitted.length ?? 0) + (found?.excluded.length ?? 0),
    0,
  );
  if (count <= MAX_NAMESPACED_SUBTREES) return undefined;
  return invalid(
    `its CA certificates have ${count} name constraints together, which are compared with each name; those of a Signer may have ${MAX_NAMESPACED_SUBTREES}`,
  );
}

function invalid(message: string): SignerError {
  return new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message });
}
