// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '../api/object/duration.ts';
import { SignerError, attempt } from '../errors.ts';
import { CA_BACKDATE_SECONDS } from '../issuance/ca-certificate.ts';
import { fingerprint, type Certificate } from '../pki/x509/certificate.ts';
import { OID_COMMON_NAME } from '../pki/der/oids.ts';
import type { KeyType } from '../vocabulary.ts';

/** A CA that a Secret holds, as far as its rotation depends on it. Times in milliseconds. */
export interface CaCertificate {
  readonly fingerprint: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** When it was made. */
  readonly bornAt: number;
  /** What it was made for, in seconds. */
  readonly durationSeconds: number;
  /** Undefined where `keyType` could not name it. */
  readonly keyType: KeyType | undefined;
  /** With the Unix time of its birth behind it; '' where it has none. */
  readonly commonName: string;
}

/**
 * @param duration - the Secret's annotation; where it says nothing, the certificate itself does
 */
export function caCertificateOf(
  certificate: Certificate,
  duration: string | undefined,
): CaCertificate {
  const { notBefore, notAfter, publicKey, subject, raw } = certificate;
  const bornAt = notBefore + CA_BACKDATE_SECONDS * 1000;
  const wanted = attempt(() => parseDuration(duration ?? ''));
  const names = subject.attributes.filter(({ oid }) => oid === OID_COMMON_NAME);
  return {
    fingerprint: fingerprint(raw),
    notBefore,
    notAfter,
    bornAt,
    durationSeconds: wanted instanceof SignerError ? (notAfter - bornAt) / 1000 : wanted,
    keyType: publicKey.keyType,
    commonName: names[0]?.value ?? '',
  };
}
