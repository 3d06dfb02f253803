// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { sameBytes } from '../../bytes.ts';
import { readWhole, type DerReader } from '../der/der-reader.ts';
import {
  TAG_BIT_STRING,
  TAG_INTEGER,
  TAG_SEQUENCE,
  contextConstructed,
  contextPrimitive,
} from '../der/der-tags.ts';
import { readValidityTime } from '../der/der-time.ts';
import { checkInteger, smallInteger, wholeBytes } from '../der/der-values.ts';
import {
  interpretExtensions,
  type InterpretedExtensions,
} from '../extensions/interpret-extensions.ts';
import { readExtensions } from '../extensions/parse-extensions.ts';
import type { Extension } from '../extensions/encode-extensions.ts';
import { readCertifiedKey, type PublicKeyInfo } from '../keys/public-key.ts';
import { readName, type DistinguishedName } from '../names/distinguished-name.ts';
import { malformed } from '../der/input-error.ts';
import { readAlgorithmIdentifier } from '../keys/signature-algorithm.ts';
import { decodePemAll } from '../der/pem.ts';

/** A leaf in a status has less than 64 KiB; CAs with long policies have a few KiB. */
const MAX_CERTIFICATE_BYTES = 256 * 1024;

/** RFC 5280 §4.1.2.2. */
const MAX_SERIAL_BYTES = 20;

/** X.509 version 3 is written as 2. */
const VERSION_3 = 2;

/** The to-be-signed part of a version 3 certificate. Plain data; views into the bytes given. */
export interface TbsCertificate extends InterpretedExtensions {
  /** Contents of the INTEGER, big-endian; not negative. */
  readonly serial: Uint8Array;
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  readonly issuer: DistinguishedName;
  /** Milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly subject: DistinguishedName;
  readonly publicKey: PublicKeyInfo;
  readonly extensions: readonly Extension[];
}

export interface Certificate extends TbsCertificate {
  readonly raw: Uint8Array;
  /** What the signature covers, header included. */
  readonly tbs: Uint8Array;
  readonly signature: Uint8Array;
}

/** @throws SignerError DER_MALFORMED, DER_LIMIT, KEY_MALFORMED, KEY_UNSUPPORTED or NAME_INVALID */
export function decodeCertificate(der: Uint8Array): Certificate {
  return decodeCertificateWith(der, decodeTbs);
}

/**
 * @param readTbs - reads the to-be-signed part: who has read the very same bytes before need not again
 * @throws SignerError as {@link decodeCertificate}
 */
export function decodeCertificateWith(
  der: Uint8Array,
  readTbs: (tbs: Uint8Array) => TbsCertificate,
): Certificate {
  const fields = readWhole(der, 'the certificate', MAX_CERTIFICATE_BYTES);
  const tbs = fields.raw('the to-be-signed part', TAG_SEQUENCE);
  const algorithm = readAlgorithmIdentifier(fields, 'the signature algorithm');
  const signature = wholeBytes(fields.read(TAG_BIT_STRING, 'the signature'), 'the signature');
  fields.finish();
  const decoded = readTbs(tbs);
  // Two algorithms are one too many (RFC 5280 §4.1.1.2): the signature covers only the inner one.
  if (!sameBytes(algorithm, decoded.signatureAlgorithm)) {
    throw malformed('the inner and the outer signature algorithm of the certificate differ');
  }
  return { ...decoded, raw: der, tbs, signature };
}

/** @throws SignerError as {@link decodeCertificate} */
export function decodeTbs(der: Uint8Array): TbsCertificate {
  const fields = readWhole(der, 'the to-be-signed part', MAX_CERTIFICATE_BYTES);
  readVersion(fields);
  const serial = readSerial(fields);
  const signatureAlgorithm = readAlgorithmIdentifier(fields, 'the inner signature algorithm');
  const issuer = readName(fields, 'the issuer');
  const validity = fields.sequence('the validity');
  const notBefore = readValidityTime(validity, 'notBefore');
  const notAfter = readValidityTime(validity, 'notAfter');
  validity.finish();
  const subject = readName(fields, 'the subject');
  const publicKey = readCertifiedKey(fields);
  skipUniqueIds(fields);
  const extensions = readCertificateExtensions(fields);
  fields.finish();
  return {
    serial,
    signatureAlgorithm,
    issuer,
    notBefore,
    notAfter,
    subject,
    publicKey,
    extensions,
    ...interpretExtensions(extensions),
  };
}

/** Version 3 only: earlier ones cannot say whether they are a CA. */
function readVersion(fields: DerReader): void {
  if (!fields.at(contextConstructed(0))) {
    throw fields.malformed('the certificate is of version 1; only version 3 can be used');
  }
  const explicit = fields.enter(contextConstructed(0), 'the version');
  const version = smallInteger(explicit.read(TAG_INTEGER, 'the version'), 'the version', VERSION_3);
  explicit.finish();
  if (version !== VERSION_3) throw malformed(`the certificate is of version ${version + 1}, not 3`);
}

function readSerial(fields: DerReader): Uint8Array {
  const serial = checkInteger(fields.read(TAG_INTEGER, 'the serial number'), 'the serial number');
  if (serial.length > MAX_SERIAL_BYTES) {
    throw malformed(`the serial number has ${serial.length} bytes, more than ${MAX_SERIAL_BYTES}`);
  }
  if (((serial[0] ?? 0) & 0x80) !== 0) throw malformed('the serial number is negative');
  return serial;
}

/** RFC 5280 §4.1.2.8: nobody uses them, a few old CAs have them. */
function skipUniqueIds(fields: DerReader): void {
  for (const number of [1, 2]) {
    if (fields.at(contextPrimitive(number))) fields.raw('a unique identifier');
  }
}

function readCertificateExtensions(fields: DerReader): readonly Extension[] {
  if (!fields.at(contextConstructed(3))) return [];
  const explicit = fields.enter(contextConstructed(3), 'the extensions');
  const extensions = readExtensions(explicit);
  explicit.finish();
  return extensions;
}

/** `sha256:<hex>` of a certificate's DER. */
export function fingerprint(der: Uint8Array): string {
  return `sha256:${createHash('sha256').update(der).digest('hex')}`;
}

/** @throws SignerError what decodePemAll and decodeCertificate throw */
export function readCertificates(pem: string): readonly Certificate[] {
  return decodePemAll(pem, 'CERTIFICATE').map((der) => decodeCertificate(der));
}

export function isSelfIssued({ issuer, subject }: Certificate): boolean {
  return sameBytes(issuer.raw, subject.raw);
}
