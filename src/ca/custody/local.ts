// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { sameBytes } from '#base/bytes.ts';
import { publicKeyOf, readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { encodeCertificate } from '#pki/x509/encode-certificate.ts';
import { PreparedCertificate } from '../issuance/prepare.ts';
import { PreparedList } from '../revocation/prepared-list.ts';
import type { Authority, AuthorityMaterial } from './contract.ts';
import { invalid, readFacts, readingSecretKey } from './facts.ts';
import { openPublicHalf } from './public-half.ts';

/**
 * Opens a CA whose private key is in memory. Checks once that the certificate is a valid CA, that
 * the key belongs to it and is strong, and that its chain leads to an anchor. Of a CA whose key is
 * in a key holder it opens the public half.
 *
 * @param now - milliseconds since 1970 on the caller's clock
 * @param maxSignatures - the limit of verified CA signatures. Default: the limit of every path.
 * @throws SignerError (`authority`) AUTHORITY_INVALID, AUTHORITY_EXPIRED, ANCHOR_MISSING or
 *   KEY_ENCRYPTED
 */
export function openLocalAuthority(
  material: AuthorityMaterial,
  now: number,
  maxSignatures?: number,
): Authority {
  if (material.heldKey !== undefined) return openPublicHalf(material, now, maxSignatures);
  const { facts, algorithm } = readFacts(material, {
    now,
    maxSignatures,
    algorithmOf: (certificate, chain) =>
      signatureAlgorithm(readKey(material.key, certificate, chain)),
  });
  return {
    facts,
    sign: (prepared: PreparedCertificate) => {
      const tbs = PreparedCertificate.consume(prepared, facts.fingerprint);
      return Promise.resolve(encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs)));
    },
    signList: (list: PreparedList) => {
      requireListSigner(facts.certificate);
      const tbs = PreparedList.bytesFor(list, facts.fingerprint);
      // A CertificateList has the outer form of a certificate (RFC 5280 §5.1).
      return encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
    },
  };
}

/**
 * Throws if the CA may not sign CRLs. Verifiers reject the CRL of a CA whose keyUsage lacks cRLSign
 * (RFC 5280 §4.2.1.3).
 */
function requireListSigner({ keyUsage }: Certificate): void {
  if (keyUsage === undefined || keyUsage.has('cRLSign')) return;
  throw invalid('the CA certificate may not sign CRLs (keyUsage lacks cRLSign)');
}

function readKey(pem: string, certificate: Certificate, chain: readonly Certificate[]): KeyObject {
  if (pem === '') throw invalid('tls.key is empty; the Secret must hold the CA’s private key');
  const key = readingSecretKey('tls.key', () => readPrivateKey(pem));
  const own = publicKeyOf(key);
  if (sameBytes(own, certificate.publicKey.spki)) return key;
  const at = chain.findIndex(({ publicKey }) => sameBytes(publicKey.spki, own));
  // Go and OpenSSL refuse this order of a kubernetes.io/tls Secret, too.
  const advice =
    at === -1
      ? ''
      : `, but of certificate ${at + 1}; write that first, because a kubernetes.io/tls Secret begins with the certificate of its key`;
  throw invalid(`tls.key is not the private key of the first certificate of tls.crt${advice}`);
}
