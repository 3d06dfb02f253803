// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import { parseTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { CA_BACKDATE_SECONDS } from '../issuance/ca-certificate.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import { commonNamesOf } from '#pki/names/distinguished-name.ts';
import type { KeyType } from '#base/vocabulary.ts';

/** The facts about a CA in a Secret that its rotation depends on. Times are milliseconds. */
export interface CaCertificate {
  readonly fingerprint: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** The time of its creation. */
  readonly bornAt: number;
  /** The requested lifetime in seconds. */
  readonly durationSeconds: number;
  /** Undefined if `keyType` has no name for it. */
  readonly keyType: KeyType | undefined;
  /** The common name, followed by the Unix time of its creation. '' if it is absent. */
  readonly commonName: string;
  /** True if another CA signed it, which may have granted less than was requested. */
  readonly isUpstream?: boolean;
  /** Fingerprints of its anchors. Absent if it is its own. */
  readonly anchors?: readonly string[];
}

/** The parts of a Secret that show when and how a CA was created. */
export interface CaOrigin {
  /** The annotation. If it is invalid or absent, the certificate's own validity counts. */
  readonly duration: string | undefined;
  /**
   * The annotation: when the chain of the CA was installed. An upstream CA may backdate a
   * certificate by days, so its notBefore is not the time of creation.
   */
  readonly installedAt?: string | undefined;
  readonly anchors?: readonly Certificate[] | undefined;
}

export function caCertificateOf(
  certificate: Certificate,
  { duration, installedAt, anchors }: CaOrigin,
): CaCertificate {
  const { notBefore, notAfter, publicKey, subject, raw } = certificate;
  const installed = parseTime(installedAt ?? '');
  const isUpstream = !isSelfSigned(certificate);
  const bornAt =
    isUpstream && !Number.isNaN(installed) ? installed : notBefore + CA_BACKDATE_SECONDS * 1000;
  const wanted = attempt(() => parseDuration(duration ?? ''));
  const [commonName = ''] = commonNamesOf(subject);
  return {
    fingerprint: fingerprint(raw),
    notBefore,
    notAfter,
    bornAt,
    durationSeconds: wanted instanceof SignerError ? (notAfter - bornAt) / 1000 : wanted,
    keyType: publicKey.keyType,
    commonName,
    ...(isUpstream ? { isUpstream } : {}),
    ...(anchors === undefined ? {} : { anchors: anchors.map((each) => fingerprint(each.raw)) }),
  };
}
