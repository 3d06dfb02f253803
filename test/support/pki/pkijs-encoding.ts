// SPDX-License-Identifier: Apache-2.0
import {
  BitString,
  Boolean as Asn1Boolean,
  Integer,
  ObjectIdentifier,
  OctetString,
  PrintableString,
  Sequence,
  Set as Asn1Set,
  Utf8String,
  type BaseBlock,
} from 'asn1js';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  Certificate,
  Extension as PkijsExtension,
  Extensions,
  GeneralName,
  GeneralNames,
  PublicKeyInfo,
  RelativeDistinguishedNames,
  Time,
  TimeType,
} from 'pkijs';
import { parseIp } from '#base/ip.ts';
import type { SubjectAltNames } from '#pki/names/general-names.ts';
import type { NameParts } from '#pki/names/distinguished-name.ts';

/** What src/pki writes, written by pkijs and asn1js: the oracle of byte-for-byte tests. */

/** A copy that is an ArrayBuffer of its own, which is what pkijs takes. */
export function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

/** pkijs itself puts all attributes into one relative name, but keeps what it was given as BER. */
export function pkijsName(parts: NameParts): RelativeDistinguishedNames {
  const attribute = (type: string, text: string): Asn1Set =>
    new Asn1Set({
      value: [
        new AttributeTypeAndValue({
          type,
          value: /^[A-Za-z0-9 '()+,\-./:=?]+$/.test(text)
            ? new PrintableString({ value: text })
            : new Utf8String({ value: text }),
        }).toSchema(),
      ],
    });
  const name = new Sequence({
    value: [
      ...parts.organizations.map((text) => attribute('2.5.4.10', text)),
      ...parts.organizationalUnits.map((text) => attribute('2.5.4.11', text)),
      ...(parts.commonName === '' ? [] : [attribute('2.5.4.3', parts.commonName)]),
    ],
  });
  return RelativeDistinguishedNames.fromBER(name.toBER(false));
}

/** Without bits, purposes or names there is no such extension: none may be empty. */
export interface ExtensionParts {
  /** Octets of the KeyUsage BIT STRING. */
  readonly keyUsage: { readonly octets: Uint8Array; readonly unused: number };
  readonly extKeyUsage: readonly string[];
  readonly ca: boolean;
  readonly pathLen?: number | undefined;
  readonly subjectKeyId: Uint8Array;
  readonly authorityKeyId: Uint8Array;
  readonly sans: SubjectAltNames;
  readonly sansCritical: boolean;
}

export function pkijsExtensions(parts: ExtensionParts): PkijsExtension[] {
  const extension = (extnID: string, critical: boolean, value: BaseBlock): PkijsExtension =>
    new PkijsExtension({ extnID, critical, extnValue: value.toBER(false) });
  const { octets, unused } = parts.keyUsage;
  const bits = new BitString({ valueHex: bufferOf(octets), unusedBits: unused });
  const purposes = parts.extKeyUsage.map((value) => new ObjectIdentifier({ value }));
  const { dnsNames, ipAddresses, uris, emails } = parts.sans;
  const hasNames = [dnsNames, ipAddresses, uris, emails].some((names) => names.length > 0);
  return [
    ...(octets.length > 0 ? [extension('2.5.29.15', true, bits)] : []),
    ...(purposes.length > 0
      ? [extension('2.5.29.37', false, new Sequence({ value: purposes }))]
      : []),
    extension('2.5.29.19', true, basicConstraints(parts)),
    extension('2.5.29.14', false, new OctetString({ valueHex: bufferOf(parts.subjectKeyId) })),
    extension('2.5.29.35', false, authorityKeyId(parts.authorityKeyId)),
    ...(hasNames ? [extension('2.5.29.17', parts.sansCritical, pkijsNames(parts.sans))] : []),
  ];
}

function basicConstraints({ ca, pathLen }: ExtensionParts): Sequence {
  return new Sequence({
    value: [
      ...(ca ? [new Asn1Boolean({ value: true })] : []),
      ...(pathLen === undefined ? [] : [new Integer({ value: pathLen })]),
    ],
  });
}

function authorityKeyId(id: Uint8Array): Sequence {
  const value = new OctetString({ valueHex: bufferOf(id) });
  value.idBlock.tagClass = 3;
  value.idBlock.tagNumber = 0;
  return new Sequence({ value: [value] });
}

export function pkijsNames(sans: SubjectAltNames): Sequence {
  const names = new GeneralNames({
    names: [
      ...sans.dnsNames.map((value) => new GeneralName({ type: 2, value })),
      ...sans.emails.map((value) => new GeneralName({ type: 1, value })),
      ...sans.ipAddresses.map(
        (text) =>
          new GeneralName({
            type: 7,
            value: new OctetString({ valueHex: bufferOf(parseIp(text) ?? new Uint8Array()) }),
          }),
      ),
      ...sans.uris.map((value) => new GeneralName({ type: 6, value })),
    ],
  });
  return names.toSchema();
}

export interface PkijsTbs {
  readonly serial: Uint8Array;
  readonly signatureAlgorithm: Uint8Array;
  readonly issuer: NameParts;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly subject: NameParts;
  readonly spki: Uint8Array;
  readonly extensions: readonly PkijsExtension[];
}

/** TBSCertificate as pkijs encodes it. */
export function pkijsTbs(parts: PkijsTbs): Uint8Array {
  const certificate = new Certificate();
  certificate.version = 2;
  const [first = 0] = parts.serial;
  // asn1js takes octets as they are: with the top bit set they were a negative number.
  const serial = first < 0x80 ? parts.serial : Uint8Array.of(0, ...parts.serial);
  certificate.serialNumber = new Integer({ valueHex: bufferOf(serial) });
  certificate.signature = AlgorithmIdentifier.fromBER(bufferOf(parts.signatureAlgorithm));
  certificate.issuer = pkijsName(parts.issuer);
  certificate.notBefore = pkijsTime(parts.notBefore);
  certificate.notAfter = pkijsTime(parts.notAfter);
  certificate.subject = pkijsName(parts.subject);
  certificate.subjectPublicKeyInfo = PublicKeyInfo.fromBER(bufferOf(parts.spki));
  if (parts.extensions.length > 0) certificate.extensions = [...parts.extensions];
  return new Uint8Array(certificate.encodeTBS().toBER(false));
}

function pkijsTime(milliseconds: number): Time {
  const value = new Date(milliseconds);
  return new Time({
    type: value.getUTCFullYear() < 2050 ? TimeType.UTCTime : TimeType.GeneralizedTime,
    value,
  });
}

/** The value of extensionRequest. */
export function pkijsExtensionRequest(extensions: readonly PkijsExtension[]): Sequence {
  return new Extensions({ extensions: [...extensions] }).toSchema();
}
