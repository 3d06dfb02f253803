// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { isGranted } from '../../../api/signer/grant.ts';
import type { Secret } from '../../../api/object/object.ts';
import { parseTime } from '../../../api/object/time.ts';
import { CROSS_CERTIFICATES } from '../../../api/signer/rotation-annotations.ts';
import { sameBytes } from '../../../bytes.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { mayCertifyCas } from '../../../issuance/cross-certificate.ts';
import { fingerprint, type Certificate } from '../../../pki/x509/certificate.ts';
import { readAnchors } from '../../../pki/x509/trust-bundle.ts';
import { readCrossRecords, type CrossRecord } from '../../../rotation/cross-records.ts';
import { materialOf } from '../../../runtime/ca/usable-authority.ts';
import type { SignerSnapshot } from './snapshot.ts';

/**
 * The cross-certificates that a managed CA's Secret shows: the one in `cross.crt`, whether or not leaves are
 * sent with it and whether or not its CA is usable; those that the Secret's annotation records, in case a
 * status was lost; and one that may have been made in a Secret that was deleted.
 */
export function foundCrossCertificates({ signer, secret }: SignerSnapshot): readonly CrossRecord[] {
  const { managed } = signer.spec.authority;
  if (managed === undefined || secret.kind === 'unknown') return [];
  if (secret.kind === 'missing') return lostWithSecret(signer, undefined);
  if (!isGranted(secret.secret, signer.spec.signerName)) return [];
  const ca = caOf(secret.secret);
  return [
    ...(ca === undefined ? [] : inSecret(secret.secret, ca)),
    ...readCrossRecords(secret.secret.metadata.annotations?.[CROSS_CERTIFICATES]),
    ...lostWithSecret(signer, ca && fingerprint(ca.raw)),
  ];
}

/** Read even if the CA is unusable. The key alone is compared: a record only reduces trust. */
function inSecret(secret: Secret, ca: Certificate): readonly CrossRecord[] {
  const { cross = '' } = materialOf(secret);
  const read = attempt(() => readAnchors(cross));
  const [certificate, issuer] = read instanceof SignerError ? [] : read;
  if (certificate === undefined || issuer === undefined) return [];
  if (!sameBytes(certificate.publicKey.spki, ca.publicKey.spki)) return [];
  return [
    {
      issuer: fingerprint(issuer.raw),
      subject: fingerprint(ca.raw),
      notAfter: certificate.notAfter,
    },
  ];
}

/** The CA in `tls.crt`, with or without its key. */
function caOf(secret: Secret): Certificate | undefined {
  const read = attempt(() => readAnchors(materialOf(secret).certificate));
  return read instanceof SignerError ? undefined : read[0];
}

/**
 * The write that activates a successor also cross-certifies it. If the Secret was lost before the status
 * recorded that write, it is unknown whether the cross-certificate was made: leaves may have been sent with
 * it.
 *
 * @param inTls - fingerprint of the CA in the Secret now
 */
function lostWithSecret(
  { status }: ClusterSigner,
  inTls: string | undefined,
): readonly CrossRecord[] {
  const authorities = status?.authorities ?? [];
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active === undefined || active.fingerprint === inTls || !mayCertify(active)) return [];
  return authorities
    .filter(({ phase, fingerprint: print }) => phase === 'Prepared' && print !== inTls)
    .map(({ fingerprint: subject, notAfter }) => ({
      issuer: active.fingerprint,
      subject,
      notAfter: Math.min(parseTime(notAfter), parseTime(active.notAfter)),
    }));
}

function mayCertify({ anchors = '', fingerprint: print }: AuthorityStatus): boolean {
  const read = attempt(() => readAnchors(anchors));
  if (read instanceof SignerError) return true;
  return read.some((each) => fingerprint(each.raw) === print && mayCertifyCas(each));
}
