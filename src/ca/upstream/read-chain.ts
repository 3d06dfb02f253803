// SPDX-License-Identifier: Apache-2.0
import { MAX_UPSTREAM_CHAIN } from '#api/signer/cluster-signer-limits.ts';
import type { AnchorChoice } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import { malformedChain, rootMissing, type ChainRefusal } from './refusals.ts';

/** A chain in order: a CA, then its issuers, the root last. */
export type CaPath = readonly [
  certificate: Certificate,
  issuer: Certificate,
  ...more: Certificate[],
];

/** Certificates of a chain. A root, an issuing CA and the managed CA are three. */
const MAX_PATH_CERTIFICATES = 8;

/** Reads the certificates of a chain. Their signatures are not verified. */
export function readChain(pem: string): CaPath | ChainRefusal {
  if (pem.length > MAX_UPSTREAM_CHAIN) {
    return malformedChain(`it has ${pem.length} characters, more than ${MAX_UPSTREAM_CHAIN}`);
  }
  const read = attempt(() => readCertificates(pem));
  if (read instanceof SignerError) return malformedChain(read.message);
  if (read.length > MAX_PATH_CERTIFICATES) {
    return malformedChain(`it has ${read.length} certificates, more than ${MAX_PATH_CERTIFICATES}`);
  }
  const [certificate, issuer, ...more] = read;
  if (certificate === undefined) return malformedChain('it has no certificate');
  if (new Set(read.map(({ raw }) => fingerprint(raw))).size < read.length) {
    return malformedChain('it has a certificate twice');
  }
  if (issuer === undefined) return rootMissing(certificate);
  const [last = issuer] = more.slice(-1);
  if (!isSelfSigned(last)) return rootMissing(last);
  const between = read.slice(0, -1).find(isSelfSigned);
  if (between !== undefined) return malformedChain('a self-signed certificate is not its last one');
  return [certificate, issuer, ...more];
}

/** Returns the root of a chain. */
export function rootOf([, issuer, ...more]: CaPath): Certificate {
  return more.at(-1) ?? issuer;
}

/** Returns the certificate of a chain that becomes the trust anchor. */
export function anchorOf(path: CaPath, choice: AnchorChoice): Certificate {
  const [certificate, issuer] = path;
  if (choice === 'Authority') return certificate;
  return choice === 'Issuer' ? issuer : rootOf(path);
}
