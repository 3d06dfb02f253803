// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isGranted } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import { CROSS_CERTIFICATES } from '#api/signer/rotation-annotations.ts';
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { mayCertifyCas } from '#ca/issuance/cross-certificate.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { readCrossRecords, type CrossRecord } from '#ca/rotation/cross-records.ts';
import { readChain } from '#ca/upstream/read-chain.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import { slotMaterial } from './inspect.ts';
import type { SignerSnapshot } from './snapshot.ts';

/**
 * Returns the cross-certificates that a managed CA's Secret shows:
 * - those by which upstream CAs certified the CAs in `tls.crt` and `next.crt`
 * - the one in `cross.crt`, even if it is not sent with leaves or its CA is unusable
 * - those that the Secret's annotation records, in case the status was lost
 * - one that a deleted Secret may have had
 */
export function foundCrossCertificates({ signer, secret }: SignerSnapshot): readonly CrossRecord[] {
  const { managed } = signer.spec.authority;
  if (managed === undefined || secret.kind === 'unknown') return [];
  if (secret.kind === 'missing') return lostWithSecret(signer, undefined);
  if (!isGranted(secret.secret, signer.spec.signerName)) return [];
  const ca = caOf(secret.secret);
  return [
    ...ofUpstreams(secret.secret),
    ...(ca === undefined ? [] : inSecret(secret.secret, ca)),
    ...readCrossRecords(secret.secret.metadata.annotations?.[CROSS_CERTIFICATES]),
    ...lostWithSecret(signer, ca && fingerprint(ca.raw)),
  ];
}

/**
 * Returns one record for each issuer above a CA that another CA signed. Verifiers that have one of
 * these as an anchor accept the CA, so all leave trust with it.
 */
function ofUpstreams(secret: Secret): readonly CrossRecord[] {
  return (['tls', 'next'] as const).flatMap((slot) => {
    const path = readChain(slotMaterial(secret, slot).certificate);
    if ('reason' in path) return [];
    const [{ raw, notAfter }, ...issuers] = path;
    return issuers.map((issuer) => ({
      issuer: fingerprint(issuer.raw),
      subject: fingerprint(raw),
      notAfter,
    }));
  });
}

/**
 * Reads the cross-certificate even if the CA is unusable. Compares only the key, since a record can
 * only reduce trust.
 */
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

/** Returns the CA in `tls.crt`, with or without its key. */
function caOf(secret: Secret): Certificate | undefined {
  const read = attempt(() => readAnchors(materialOf(secret).certificate));
  return read instanceof SignerError ? undefined : read[0];
}

/**
 * Returns cross-certificates that may have been made in a lost Secret. The write that activates a
 * successor also cross-certifies it. If the Secret was lost before the status recorded that write,
 * leaves may have been sent with the cross-certificate.
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
