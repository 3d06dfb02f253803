// SPDX-License-Identifier: Apache-2.0
import { Enumerated, Integer, OctetString, Sequence } from 'asn1js';
import {
  AlgorithmIdentifier,
  CertificateRevocationList,
  Extension,
  Extensions,
  RelativeDistinguishedNames,
  RevokedCertificate,
  Time,
  TimeType,
} from 'pkijs';
import { FIRST_GENERALIZED_YEAR } from '#pki/der/der-time.ts';
import { OID_AUTHORITY_KEY_IDENTIFIER, OID_CRL_NUMBER, OID_REASON_CODE } from '#pki/der/oids.ts';
import type { RevokedCertificate as Entry } from '#pki/x509/certificate-list.ts';
import { REVOCATION_REASONS } from '#base/vocabulary.ts';
import type { WantedList } from './wanted-list.ts';

/**
 * Encodes the TBSCertList of a full CRL (RFC 5280 §5.1.2) with pkijs. `prepareList` must read the
 * result before it is signed.
 *
 * @returns DER
 */
export function encodeTbsList(wanted: WantedList): Uint8Array {
  const { issuer, revoked } = wanted;
  const list = new CertificateRevocationList();
  list.version = 1;
  list.signature = AlgorithmIdentifier.fromBER(bufferOf(issuer.signatureAlgorithm));
  list.signatureAlgorithm = list.signature;
  list.issuer = RelativeDistinguishedNames.fromBER(bufferOf(issuer.subject));
  list.thisUpdate = timeOf(wanted.thisUpdate);
  list.nextUpdate = timeOf(wanted.nextUpdate);
  if (revoked.length > 0) list.revokedCertificates = revoked.map(entryOf);
  list.crlExtensions = new Extensions({ extensions: extensionsOf(wanted) });
  const schema: unknown = list.toSchema(true);
  const [tbs] = schema instanceof Sequence ? schema.valueBlock.value : [];
  if (tbs === undefined) throw new Error('pkijs encoded a CRL without a to-be-signed part');
  return new Uint8Array(tbs.toBER(false));
}

function entryOf({ serial, revokedAt, reason }: Entry): RevokedCertificate {
  const code = REVOCATION_REASONS[reason];
  const value = new Enumerated({ value: code }).toBER(false);
  return new RevokedCertificate({
    userCertificate: new Integer({ valueHex: bufferOf(serial) }),
    revocationDate: timeOf(revokedAt),
    // RFC 5280 §5.3.1 omits an unspecified reason.
    ...(code === 0
      ? {}
      : {
          crlEntryExtensions: new Extensions({
            extensions: [
              new Extension({ extnID: OID_REASON_CODE, critical: false, extnValue: value }),
            ],
          }),
        }),
  });
}

function extensionsOf({ issuer, number }: WantedList): Extension[] {
  const keyId = new OctetString({ valueHex: bufferOf(issuer.keyIdentifier) });
  keyId.idBlock.tagClass = 3;
  keyId.idBlock.tagNumber = 0;
  const identifier = new Sequence({ value: [keyId] });
  return [
    new Extension({
      extnID: OID_AUTHORITY_KEY_IDENTIFIER,
      critical: false,
      extnValue: identifier.toBER(false),
    }),
    new Extension({
      extnID: OID_CRL_NUMBER,
      critical: false,
      extnValue: Integer.fromBigInt(number).toBER(false),
    }),
  ];
}

/** Encodes a time as in certificates (RFC 5280 §5.1.2.4). */
function timeOf(milliseconds: number): Time {
  const value = new Date(milliseconds);
  const isUtc = value.getUTCFullYear() < FIRST_GENERALIZED_YEAR;
  return new Time({ type: isUtc ? TimeType.UTCTime : TimeType.GeneralizedTime, value });
}

/** Returns a copy with an ArrayBuffer of its own, as pkijs requires. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
