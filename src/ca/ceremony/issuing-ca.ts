// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError } from '#base/errors.ts';
import type { CaKey } from '../custody/ca-key.ts';
import type { SigningCa } from '../issuance/signing-ca.ts';
import { keyIdentifier, keyObjectOf } from '#pki/keys/public-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';

/**
 * Returns the public facts of a CA that signs in a ceremony.
 *
 * @param bit - the key usage that it needs
 * @throws SignerError AUTHORITY_INVALID (`authority`) if it may not sign, or KEY_WEAK
 */
export function issuingCa(certificate: Certificate, bit: 'keyCertSign' | 'cRLSign'): SigningCa {
  const { isCa, keyUsage, subjectKeyIdentifier, publicKey } = certificate;
  if (!isCa) throw invalid('is not a CA (basicConstraints lacks CA:TRUE)');
  if (keyUsage?.has(bit) === false) throw invalid(`may not sign this (keyUsage lacks ${bit})`);
  if (subjectKeyIdentifier === undefined) throw invalid('has no subjectKeyIdentifier');
  checkKey(publicKey);
  return {
    fingerprint: fingerprint(certificate.raw),
    subject: certificate.subject.raw,
    keyIdentifier: subjectKeyIdentifier,
    signatureAlgorithm: signatureAlgorithm(keyObjectOf(publicKey)).der,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
  };
}

/**
 * Throws unless a key is that of a CA.
 *
 * @throws SignerError AUTHORITY_INVALID (`authority`)
 */
export function requireKeyOf(certificate: Certificate, { spki }: Pick<CaKey, 'spki'>): void {
  if (!sameBytes(certificate.publicKey.spki, spki)) throw invalid('has another key than ca.key');
}

/** The fields of a root before it has a certificate. */
export interface RootKey {
  readonly spki: Uint8Array;
  /** DER AlgorithmIdentifier of its signatures. */
  readonly algorithm: Uint8Array;
}

/** Returns the facts of a root that is about to sign itself. Its fingerprint is that of its key. */
export function selfIssuer(
  { spki, algorithm }: RootKey,
  subject: Uint8Array,
  validity: Pick<SigningCa, 'notBefore' | 'notAfter'>,
): SigningCa {
  const { notBefore, notAfter } = validity;
  return {
    fingerprint: fingerprint(spki),
    subject,
    keyIdentifier: keyIdentifier(spki),
    signatureAlgorithm: algorithm,
    notBefore,
    notAfter,
  };
}

function invalid(why: string): SignerError {
  const message = `ca.certificate: it ${why}`;
  return new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message });
}
