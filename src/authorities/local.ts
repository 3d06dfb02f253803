// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { sameBytes } from '../bytes.ts';
import { SignerError, messageOf, type ErrorCode } from '../errors.ts';
import { Prepared } from '../issuance/prepare.ts';
import {
  decodeCertificate,
  fingerprint,
  type Certificate,
  isSelfIssued,
} from '../pki/x509/certificate.ts';
import { decodePemAll } from '../pki/der/pem.ts';
import { verifyPath, type PathOptions } from '../pki/x509/path.ts';
import { publicKeyOf, readPrivateKey } from '../pki/keys/private-key.ts';
import { signatureAlgorithm } from '../pki/keys/signature-algorithm.ts';
import { encodeCertificate } from '../pki/x509/encode-certificate.ts';
import { PreparedList } from '../revocation/prepared-list.ts';
import { readAnchors } from '../pki/x509/trust-bundle.ts';
import type { Authority, AuthorityFacts, AuthorityMaterial } from './contract.ts';
import { readCrossCertificate } from './cross-certificate.ts';
import { checkKey } from '../pki/keys/weak-keys.ts';

/** A Secret with a longer chain is a mistake. */
const MAX_CHAIN = 10;

/**
 * Opens a CA whose private key is in memory. Checks once that the certificate is a CA and valid, that the
 * key belongs to it and is strong, and that its chain leads to an anchor.
 *
 * @param now - milliseconds since 1970 on the caller's clock
 * @param maxSignatures - how many signatures of CAs are verified at most; default: as many as for any path
 * @throws SignerError (`authority`) AUTHORITY_INVALID, AUTHORITY_EXPIRED, ANCHOR_MISSING or KEY_ENCRYPTED
 */
export function openLocalAuthority(
  material: AuthorityMaterial,
  now: number,
  maxSignatures?: number,
): Authority {
  const chain = readChain(material.certificate);
  const [certificate] = chain;
  requireCa(certificate, now);
  // An attacker who can compute the CA's private key can issue any leaf.
  readingSecretKey('tls.crt', () => checkKey(certificate.publicKey));
  const key = readKey(material.key, certificate);
  const anchors = readRoots(material.anchors, chain);
  const intermediates = chain.filter((each) => !isSelfIssued(each));
  requireChain({ leaf: certificate, intermediates, anchors, now, maxSignatures });
  const algorithm = signatureAlgorithm(key);
  const cross =
    material.cross === undefined ? undefined : readCrossCertificate(material.cross, certificate);
  const facts: AuthorityFacts = Object.freeze({
    certificate,
    intermediates,
    anchors,
    fingerprint: fingerprint(certificate.raw),
    subject: certificate.subject.raw,
    keyIdentifier: requireKeyIdentifier(certificate),
    signatureAlgorithm: algorithm.der,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    ...(cross === undefined ? {} : { cross }),
  });
  return {
    facts,
    sign: (prepared: Prepared) => {
      const tbs = Prepared.consume(prepared, facts.fingerprint);
      return Promise.resolve(encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs)));
    },
    signList: (list: PreparedList) => {
      requireListSigner(certificate);
      const tbs = PreparedList.bytesFor(list, facts.fingerprint);
      // A CertificateList has the outer form of a certificate (RFC 5280 §5.1).
      return encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
    },
  };
}

function readChain(pem: string): readonly [Certificate, ...Certificate[]] {
  const blocks = readingSecretKey('tls.crt', () => decodePemAll(pem, 'CERTIFICATE'));
  if (blocks.length > MAX_CHAIN) throw invalid(`tls.crt holds more than ${MAX_CHAIN} certificates`);
  const [first, ...rest] = blocks.map((der) =>
    readingSecretKey('tls.crt', () => decodeCertificate(der)),
  );
  if (first === undefined) throw invalid('tls.crt holds no certificate');
  return [first, ...rest];
}

function requireCa(certificate: Certificate, now: number): void {
  if (!certificate.isCa) {
    throw invalid('the first certificate of tls.crt is not a CA (basicConstraints lacks CA:TRUE)');
  }
  if (certificate.keyUsage !== undefined && !certificate.keyUsage.has('keyCertSign')) {
    throw invalid('the CA certificate may not sign certificates (keyUsage lacks keyCertSign)');
  }
  if (now >= certificate.notAfter) {
    throw invalid(
      `the CA certificate expired at ${new Date(certificate.notAfter).toISOString()}; renew it`,
      'AUTHORITY_EXPIRED',
    );
  }
  if (now < certificate.notBefore) {
    throw invalid(
      `the CA certificate is not valid before ${new Date(certificate.notBefore).toISOString()}`,
      'AUTHORITY_EXPIRED',
    );
  }
}

/** RFC 5280 §4.2.1.3: verifiers refuse the CRL of a CA whose keyUsage lacks cRLSign. */
function requireListSigner({ keyUsage }: Certificate): void {
  if (keyUsage === undefined || keyUsage.has('cRLSign')) return;
  throw invalid('the CA certificate may not sign CRLs (keyUsage lacks cRLSign)');
}

function readKey(pem: string, certificate: Certificate): KeyObject {
  if (pem === '') throw invalid('tls.key is empty; the Secret must hold the CA’s private key');
  const key = readingSecretKey('tls.key', () => readPrivateKey(pem));
  if (!sameBytes(publicKeyOf(key), certificate.publicKey.spki)) {
    throw invalid('tls.key is not the private key of the first certificate of tls.crt');
  }
  return key;
}

function readRoots(pem: string | undefined, chain: readonly Certificate[]): readonly Certificate[] {
  if (pem !== undefined && pem.trim() !== '')
    return readingSecretKey('ca.crt', () => readAnchors(pem));
  const last = chain.at(-1);
  if (last !== undefined && isSelfIssued(last)) return [last];
  throw invalid(
    'tls.crt does not end in a self-signed certificate and there is no ca.crt with the root',
    'ANCHOR_MISSING',
  );
}

/** The CA must chain to an anchor because each of its leaves must. */
function requireChain(path: PathOptions): void {
  if (path.anchors.some((anchor) => sameBytes(anchor.raw, path.leaf.raw))) return;
  readingSecretKey('tls.crt', () => verifyPath(path));
}

function requireKeyIdentifier(certificate: Certificate): Uint8Array {
  if (certificate.subjectKeyIdentifier === undefined) {
    throw invalid('the CA certificate has no subjectKeyIdentifier (RFC 5280 §4.2.1.2)');
  }
  return certificate.subjectKeyIdentifier;
}

/** Runs a decoder on one key of the Secret; its errors get the disposition `authority` and that key's name. */
function readingSecretKey<T>(where: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof SignerError && error.code === 'KEY_ENCRYPTED') {
      throw invalid(`${where}: ${error.message}`, 'KEY_ENCRYPTED');
    }
    throw invalid(`${where}: ${messageOf(error)}`, 'AUTHORITY_INVALID', error);
  }
}

function invalid(
  message: string,
  code: ErrorCode = 'AUTHORITY_INVALID',
  cause?: unknown,
): SignerError {
  return new SignerError({ code, disposition: 'authority', message, cause });
}
