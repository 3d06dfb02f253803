// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { sameBytes } from '#base/bytes.ts';
import { readWhole, type DerReader } from '../der/der-reader.ts';
import {
  TAG_BIT_STRING,
  TAG_INTEGER,
  TAG_SEQUENCE,
  contextConstructed,
  contextPrimitive,
} from '../der/der-tags.ts';
import { readValidityTime } from '../der/der-time.ts';
import { checkInteger, wholeBytes } from '../der/der-values.ts';
import {
  interpretExtensions,
  type InterpretedExtensions,
} from '../extensions/interpret-extensions.ts';
import { readExtensions } from '../extensions/parse-extensions.ts';
import type { Extension } from '../extensions/encode-extensions.ts';
import { readCertifiedKey, type PublicKeyInfo } from '../keys/public-key.ts';
import { readName, type DistinguishedName } from '../names/distinguished-name.ts';
import { inputError, malformed } from '../der/input-error.ts';
import { readAlgorithmIdentifier } from '../keys/signature-algorithm.ts';
import { decodePemAll } from '../der/pem.ts';
import { requireVersion, type RequiredVersion } from './version.ts';

/**
 * The limit of a certificate in bytes. A certificate in a status is shorter than 64 KiB, and a CA's
 * with long policies has a few KiB.
 */
const MAX_CERTIFICATE_BYTES = 256 * 1024;

/**
 * The limit of a serial number. RFC 5280 §4.1.2.2 allows CAs 20 octets, but some write 20 random
 * octets and a leading zero, or a longer digest, which Go and OpenSSL read. None in use is longer
 * than this.
 */
const MAX_SERIAL_BYTES = 64;

/** Earlier versions have no basicConstraints (RFC 5280 §4.1.2.1). */
const VERSION: RequiredVersion = {
  what: 'the certificate',
  version: 3,
  help: '; issue it again with extensions ("openssl x509 -req -extfile FILE")',
};

/**
 * The decoded TBSCertificate of a version 3 certificate (RFC 5280 §4.1). Bytes are views of the
 * input: do not modify it.
 */
export interface TbsCertificate extends InterpretedExtensions {
  /** Contents of the INTEGER: big-endian, not negative, 1 to 64 bytes. */
  readonly serial: Uint8Array;
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  readonly issuer: DistinguishedName;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  /** Milliseconds since 1970. The certificate is still valid in that second. */
  readonly notAfter: number;
  readonly subject: DistinguishedName;
  readonly publicKey: PublicKeyInfo;
  readonly extensions: readonly Extension[];
}

/** A decoded certificate. Its signature is not verified: verifyPath does that. */
export interface Certificate extends TbsCertificate {
  /** The whole DER. */
  readonly raw: Uint8Array;
  /** DER TBSCertificate with its header: the bytes that the signature covers. */
  readonly tbs: Uint8Array;
  /** Contents of the BIT STRING, for ECDSA in DER (RFC 3279 §2.2.3). */
  readonly signature: Uint8Array;
}

/**
 * Decodes a DER certificate of version 3 (RFC 5280 §4.1) of at most 256 KiB. Does not check its
 * signature and validity.
 *
 * @throws SignerError DER_MALFORMED, DER_LIMIT, KEY_MALFORMED, KEY_UNSUPPORTED or NAME_INVALID
 */
export function decodeCertificate(der: Uint8Array): Certificate {
  return decodeCertificateWith(der, decodeTbs);
}

/**
 * Decodes a certificate as {@link decodeCertificate} does, with another decoder of its to-be-signed
 * part: a caller that has decoded the same bytes before saves the work.
 *
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
  // They must be equal (RFC 5280 §4.1.1.2), because the signature covers only the inner one.
  if (!sameBytes(algorithm, decoded.signatureAlgorithm)) {
    throw malformed('the inner and the outer signature algorithm of the certificate differ');
  }
  return { ...decoded, raw: der, tbs, signature };
}

/**
 * Decodes a DER TBSCertificate with its header (RFC 5280 §4.1).
 *
 * @throws SignerError as {@link decodeCertificate}
 */
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

function readVersion(fields: DerReader): void {
  if (!fields.at(contextConstructed(0))) {
    requireVersion(DEFAULT_VERSION, VERSION);
    return;
  }
  const explicit = fields.enter(contextConstructed(0), 'the version');
  requireVersion(explicit.read(TAG_INTEGER, 'the version'), VERSION);
  explicit.finish();
}

/** The contents of the INTEGER that a certificate without a version has by default. */
const DEFAULT_VERSION = Uint8Array.of(0);

/**
 * Reads the serial number of a certificate at the reader's position: not negative, 1 to `most`
 * bytes (RFC 5280 §4.1.2.2). Zero is read, as §4.1.2.2 advises. Go rejects negative ones.
 *
 * @throws SignerError DER_MALFORMED, or DER_LIMIT above `most`
 */
export function readSerial(fields: DerReader, most = MAX_SERIAL_BYTES): Uint8Array {
  const serial = checkInteger(fields.read(TAG_INTEGER, 'the serial number'), 'the serial number');
  if (serial.length > most) {
    throw inputError(
      'DER_LIMIT',
      `the serial number has ${serial.length} bytes, more than ${most}`,
    );
  }
  if (((serial[0] ?? 0) & 0x80) !== 0) throw malformed('the serial number is negative');
  return serial;
}

/** Skips unique identifiers (RFC 5280 §4.1.2.8). A few old CAs have them, and nothing uses them. */
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

/**
 * Returns the fingerprint of a certificate, `sha256:<hex>` of its DER, as in status fields and
 * logs.
 */
export function fingerprint(der: Uint8Array): string {
  return `sha256:${createHash('sha256').update(der).digest('hex')}`;
}

/**
 * Decodes the certificates of a PEM text.
 *
 * @returns the certificates in order, or none for a blank text
 * @throws SignerError PEM_MALFORMED, or as {@link decodeCertificate}
 */
export function readCertificates(pem: string): readonly Certificate[] {
  return decodePemAll(pem, 'CERTIFICATE').map((der) => decodeCertificate(der));
}

/**
 * Reports whether issuer and subject of a certificate are the same name (RFC 5280 §6.1), as of a
 * root. Does not check whether it signed itself.
 */
export function isSelfIssued({ issuer, subject }: Certificate): boolean {
  return sameBytes(issuer.raw, subject.raw);
}
