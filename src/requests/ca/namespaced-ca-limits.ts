// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '#api/object/object.ts';
import { CROSS_CERTIFICATE } from '#api/signer/rotation-annotations.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import { SignerError } from '#base/errors.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import * as messages from './messages.ts';

/**
 * Maximum characters of base64. All signers share a process: reading a Secret of one MiB takes a
 * good part of a second after each change, and so does each signature by a key of 16384 bits. A
 * cluster administrator chooses the CA of a ClusterSigner. That of a Signer comes from any user of
 * its namespace.
 */
const MAX_MATERIAL_CHARACTERS = 65_536;
/** The largest RSA key that `keyType` offers. */
const MAX_NAMESPACED_RSA_BITS = 4096;

/** A rotation needs two. Opening a CA searches the path to an anchor among all of one name. */
const MAX_NAMESPACED_ANCHORS = 8;
/**
 * Maximum number of signatures that opening a Signer's CA verifies. A P-521 signature takes 1.5 ms.
 * A usual path to an anchor has two, and each certificate of the wanted name with another key takes
 * one more.
 */
const MAX_NAMESPACED_SIGNATURES = 8;
/**
 * Maximum number of name constraints of all its certificates. Each of a leaf's names, up to 100, is
 * compared with each of them.
 */
const MAX_NAMESPACED_SUBTREES = 32;

/**
 * Returns how many signatures opening the CA of this signer may verify, or undefined for no special
 * limit.
 */
export function maxSignaturesOf(signer: ClusterSigner): number | undefined {
  return isNamespaced(signer) ? MAX_NAMESPACED_SIGNATURES : undefined;
}

/** The keys of a Secret that are read. */
const MATERIAL = ['tls.crt', 'tls.key', 'ca.crt', CROSS_CERTIFICATE] as const;

/** Returns the fault of a Signer's Secret that is too large to be opened, or undefined. */
export function checkMaterial(signer: ClusterSigner, secret: Secret): SignerError | undefined {
  if (!isNamespaced(signer)) return undefined;
  const before = checked.get(secret);
  if (before !== undefined) return before.fault;
  const fault = materialFault(secret);
  checked.set(secret, { fault });
  return fault;
}

/**
 * Results by Secret version, so that this is not repeated for each leaf. Cached objects are
 * replaced, never changed.
 */
const checked = new WeakMap<Secret, { readonly fault: SignerError | undefined }>();

function materialFault({ data = {} }: Secret): SignerError | undefined {
  const size = MATERIAL.reduce((sum, key) => sum + (data[key]?.length ?? 0), 0);
  if (size > MAX_MATERIAL_CHARACTERS) {
    return invalid(messages.tooManyCharacters(MATERIAL, size, MAX_MATERIAL_CHARACTERS));
  }
  const anchors = Buffer.from(data['ca.crt'] ?? '', 'base64').toString('latin1');
  const count = anchors.split('-----BEGIN ').length - 1;
  if (count <= MAX_NAMESPACED_ANCHORS) return undefined;
  return invalid(messages.tooManyAnchors(count, MAX_NAMESPACED_ANCHORS));
}

/** Returns the fault of a Signer's CA that would make each leaf slow, or undefined. */
export function checkCa(signer: ClusterSigner, facts: AuthorityFacts): SignerError | undefined {
  if (!isNamespaced(signer)) return undefined;
  const before = costs.get(facts);
  if (before !== undefined) return before.fault;
  const fault = costFault(facts);
  costs.set(facts, { fault });
  return fault;
}

/** Results by opened CA, so that this is not repeated for each leaf. */
const costs = new WeakMap<AuthorityFacts, { readonly fault: SignerError | undefined }>();

function costFault({
  certificate,
  intermediates,
  anchors,
}: AuthorityFacts): SignerError | undefined {
  const { algorithm, bits } = certificate.publicKey;
  if (algorithm === 'RSA' && bits > MAX_NAMESPACED_RSA_BITS) {
    return invalid(messages.rsaKeyTooLong(bits, MAX_NAMESPACED_RSA_BITS));
  }
  const all = [certificate, ...intermediates, ...anchors];
  const each = new Map(all.map((one) => [fingerprint(one.raw), one.nameConstraints]));
  const count = [...each.values()].reduce(
    (sum, found) => sum + (found?.permitted.length ?? 0) + (found?.excluded.length ?? 0),
    0,
  );
  if (count <= MAX_NAMESPACED_SUBTREES) return undefined;
  return invalid(messages.tooManyConstraints(count, MAX_NAMESPACED_SUBTREES));
}

function invalid(message: string): SignerError {
  return new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message });
}
