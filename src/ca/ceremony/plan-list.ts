// SPDX-License-Identifier: Apache-2.0
/** The CRL of a ceremony, before a key signs it. */
import { formatTime } from '#api/object/time.ts';
import { usageError } from '#base/errors.ts';
import { encodeTbsList } from '../revocation/encode-list.ts';
import { nextNumber } from '../revocation/next-list.ts';
import { prepareList, type PreparedList } from '../revocation/prepared-list.ts';
import { canonicalSerial, serialBytes, serialText } from '../revocation/serial.ts';
import type { WantedList } from '../revocation/wanted-list.ts';
import { sameBytes } from '#base/bytes.ts';
import { TAG_SEQUENCE } from '#pki/der/der-tags.ts';
import { decodePem } from '#pki/der/pem.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import {
  decodeCertificateList,
  type CertificateList,
  type RevokedCertificate,
} from '#pki/x509/certificate-list.ts';
import { isSignedBy } from '#pki/x509/issuers.ts';
import type { CeremonyFile } from './ceremony-file.ts';
import { issuingCa } from './issuing-ca.ts';

/** A CRL that is checked and not signed. */
export interface PlannedList {
  readonly file: string;
  readonly wanted: WantedList;
  /** DER TBSCertList: the bytes that the key signs. */
  readonly tbs: Uint8Array;
  /** The same bytes, for the key of its issuer. */
  readonly prepared: PreparedList;
}

/** The files that a CRL depends on, decoded. */
export interface ListInputs {
  /** The CA whose CRL it is. */
  readonly parent: Certificate;
  /** The last CRL. Undefined for the first. */
  readonly previous: CertificateList | undefined;
  /** The certificate that an entry of the file names. */
  readonly certificateOf: (path: string) => Certificate;
}

type Section = NonNullable<CeremonyFile['crl']>;

/**
 * Plans the next CRL of an offline CA: all entries of the last one, and those of the file.
 *
 * @throws SignerError USAGE (`fail`) for entries and times that cannot be, AUTHORITY_INVALID
 *   (`authority`) if the CA may not sign CRLs
 */
export function planList(file: CeremonyFile, inputs: ListInputs): PlannedList {
  const section = file.crl;
  if (section === undefined) throw usageError('the file of the ceremony has no section crl');
  const { parent, previous } = inputs;
  const issuer = issuingCa(parent, 'cRLSign');
  const [thisUpdate, nextUpdate] = [Date.parse(section.thisUpdate), Date.parse(section.nextUpdate)];
  if (thisUpdate < parent.notBefore || nextUpdate > parent.notAfter) {
    const message = `crl: it is current from ${section.thisUpdate} to ${section.nextUpdate}, and the CA is valid from ${formatTime(parent.notBefore)} to ${formatTime(parent.notAfter)}`;
    throw usageError(message);
  }
  if (previous !== undefined) requirePrevious(previous, parent, section);
  const revoked = entriesOf(section, inputs);
  const number = nextNumber([previous?.number ?? 0n], thisUpdate / 1000);
  const wanted = { issuer, number, thisUpdate, nextUpdate, revoked };
  const tbs = encodeTbsList(wanted);
  return { file: section.file, wanted, tbs, prepared: prepareList(tbs, wanted) };
}

/** Throws unless the key of the CA signed the last CRL, and the next one is later. */
function requirePrevious(previous: CertificateList, parent: Certificate, section: Section): void {
  if (!isListOf(previous, parent)) {
    throw usageError(`crl.previous: ${section.previous ?? ''} is not a CRL of this CA`);
  }
  if (Date.parse(section.thisUpdate) > previous.thisUpdate) return;
  const message = `crl.thisUpdate: ${section.thisUpdate} is not later than that of ${section.previous ?? ''} (${formatTime(previous.thisUpdate)})`;
  throw usageError(message);
}

/**
 * Decodes the file of a CRL: DER, as this command and RFC 2585 §3 write it, or PEM.
 *
 * @throws SignerError PEM_MALFORMED, DER_MALFORMED or DER_LIMIT (`fail`)
 */
export function readList(contents: Uint8Array): CertificateList {
  const isDer = contents[0] === TAG_SEQUENCE;
  const text = Buffer.from(contents).toString('latin1');
  return decodeCertificateList(isDer ? contents : decodePem(text, 'X509 CRL'));
}

/** Reports whether the key of a CA signed a CRL. */
export function isListOf(list: CertificateList, { subject, publicKey }: Certificate): boolean {
  return (
    sameBytes(list.issuer.raw, subject.raw) &&
    verifySignature(publicKey, list.signatureAlgorithm, list.tbs, list.signature)
  );
}

function entriesOf(section: Section, inputs: ListInputs): readonly RevokedCertificate[] {
  const { previous } = inputs;
  const entries = new Map(
    (previous?.revoked ?? []).map((each) => [serialText(each.serial), each] as const),
  );
  for (const [index, each] of (section.revoked ?? []).entries()) {
    const at = `crl.revoked.${index}`;
    const serial = serialOf(each, at, inputs);
    if (entries.has(serial)) {
      throw usageError(`${at}: the serial number ${serial} is already listed`);
    }
    const revokedAt = Date.parse(each.revokedAt);
    if (revokedAt > Date.parse(section.thisUpdate)) {
      throw usageError(`${at}.revokedAt: ${each.revokedAt} is later than crl.thisUpdate`);
    }
    entries.set(serial, { serial: serialBytes(serial), revokedAt, reason: each.reason });
  }
  return [...entries.values()];
}

/** Returns the serial number of an entry, which may name a certificate of this CA. */
function serialOf(
  { certificate: path, serial = '' }: NonNullable<Section['revoked']>[number],
  at: string,
  { parent, certificateOf }: ListInputs,
): string {
  if (path === undefined) return canonicalSerial(serial);
  const named = certificateOf(path);
  if (isSignedBy(named, parent)) return serialText(named.serial);
  throw usageError(`${at}.certificate: this CA did not sign ${path}`);
}
