// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes the ConfigMap of one CA Secret. It has a CRL for each CA whose key the Secret
 * has.
 */
import type { KubeObject } from '#api/object/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { decodeCertificateList, type CertificateList } from '#pki/x509/certificate-list.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { hexOf } from './distribution-points.ts';
import type { Ends } from './next-list.ts';

/** A ConfigMap with binary data in standard base64, as in the API. */
export interface CrlConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Returns the key of a CA's CRL (DER) in `binaryData`. */
export function listKey(fingerprint: string): string {
  return `${hexOf(fingerprint)}.crl`;
}

/**
 * Returns the key in `data` of the expiry of its certificates: `<serial> <Unix seconds>` a line.
 */
export function endsKey(fingerprint: string): string {
  return `${hexOf(fingerprint)}.ends`;
}

/**
 * Returns the CRL of a CA in a ConfigMap. A list that is unreadable, or that the CA's key did not
 * sign, counts as none.
 *
 * @param fingerprint - of the CA
 */
export function publishedList(
  configMap: CrlConfigMap | undefined,
  fingerprint: string,
  ca: Certificate,
): CertificateList | undefined {
  const base64 = configMap?.binaryData?.[listKey(fingerprint)];
  if (base64 === undefined) return undefined;
  const list = attempt(() => decodeCertificateList(Buffer.from(base64, 'base64')));
  if (list instanceof SignerError) return undefined;
  const { signatureAlgorithm, tbs, signature } = list;
  const isManaged = verifySignature(ca.publicKey, signatureAlgorithm, tbs, signature);
  return isManaged ? list : undefined;
}

/**
 * Returns the expiry of the certificates on a CA's CRL. Omits unreadable lines, for which the CA's
 * own end counts.
 */
export function publishedEnds(configMap: CrlConfigMap | undefined, fingerprint: string): Ends {
  const text = configMap?.data?.[endsKey(fingerprint)] ?? '';
  return new Map(
    [...text.matchAll(/^([0-9a-f]{1,42}) (\d{1,12})$/gm)].map(([, serial = '', seconds]) => [
      serial,
      Number(seconds) * 1000,
    ]),
  );
}

/** Returns the text that {@link publishedEnds} reads. */
export function writeEnds(ends: Ends): string {
  return [...ends].map(([serial, end]) => `${serial} ${Math.ceil(end / 1000)}\n`).join('');
}
