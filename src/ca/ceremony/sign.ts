// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { CaKey } from '../custody/ca-key.ts';
import { correspond } from '../issuance/correspond.ts';
import { PreparedCertificate } from '../issuance/prepare.ts';
import { PreparedList } from '../revocation/prepared-list.ts';
import { decodeCertificateList } from '#pki/x509/certificate-list.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { encodeCertificate } from '#pki/x509/encode-certificate.ts';
import { isSignedBy } from '#pki/x509/issuers.ts';
import type { CertificatePlan } from './plan-certificate.ts';
import { isListOf, type PlannedList } from './plan-list.ts';

/**
 * Signs a planned certificate once, and verifies the signature.
 *
 * @returns DER
 * @throws SignerError CORRESPONDENCE (`authority`) if the signature is not of these bytes
 */
export async function signCertificate(plan: CertificatePlan, key: CaKey): Promise<Uint8Array> {
  const { prepared, issuer, parent, notBefore } = plan;
  const tbs = PreparedCertificate.consume(prepared, issuer.fingerprint);
  const der = encodeCertificate(tbs, key.algorithm.der, await key.sign(tbs));
  const signed = decodeCertificate(der);
  if (parent !== undefined) {
    const chain = { certificate: parent, intermediates: [], anchors: [parent] };
    correspond(prepared, { leaf: signed, ...chain }, notBefore);
  } else if (!prepared.equals(signed.tbs) || !isSignedBy(signed, signed)) {
    throw differs('certificate');
  }
  return der;
}

/**
 * Signs a planned CRL, and verifies the signature.
 *
 * @returns DER
 * @throws SignerError CORRESPONDENCE (`authority`) if the signature is not of these bytes
 */
export async function signList(
  { prepared, wanted }: PlannedList,
  key: CaKey,
  parent: Certificate,
): Promise<Uint8Array> {
  const tbs = PreparedList.bytesFor(prepared, wanted.issuer.fingerprint);
  // A CertificateList has the outer form of a certificate (RFC 5280 §5.1).
  const der = encodeCertificate(tbs, key.algorithm.der, await key.sign(tbs));
  if (!isListOf(decodeCertificateList(der), parent)) throw differs('CRL');
  return der;
}

function differs(what: string): SignerError {
  const message = `the key signed other bytes than those of the ${what}; nothing was written`;
  return new SignerError({ code: 'CORRESPONDENCE', disposition: 'authority', message });
}
