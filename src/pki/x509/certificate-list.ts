// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { REVOCATION_REASONS, type CrlReason } from '#base/vocabulary.ts';
import { DerReader, readWhole } from '../der/der-reader.ts';
import {
  TAG_BIT_STRING,
  TAG_ENUMERATED,
  TAG_INTEGER,
  TAG_SEQUENCE,
  contextConstructed,
} from '../der/der-tags.ts';
import { readValidityTime } from '../der/der-time.ts';
import { checkInteger, smallInteger, unsignedBigInt, wholeBytes } from '../der/der-values.ts';
import { inputError, malformed } from '../der/input-error.ts';
import { OID_AUTHORITY_KEY_IDENTIFIER, OID_CRL_NUMBER, OID_REASON_CODE } from '../der/oids.ts';
import {
  authorityKeyIdentifier as encodedKeyIdentifier,
  type Extension,
} from '../extensions/encode-extensions.ts';
import { decodeAuthorityKeyIdentifier, readExtensions } from '../extensions/parse-extensions.ts';
import { readAlgorithmIdentifier } from '../keys/signature-algorithm.ts';
import { readName, type DistinguishedName } from '../names/distinguished-name.ts';
import { readSerial } from './certificate.ts';
import { requireVersion, type RequiredVersion } from './version.ts';
import { keysOf } from '#base/object-keys.ts';

/** The limit of a list in bytes: the size of a ConfigMap, 1 MiB. */
const MAX_LIST_BYTES = 1024 * 1024;

/** RFC 5280 §5.1.2.1. */
const VERSION: RequiredVersion = { what: 'the CRL', version: 2 };

/** The limit of a number in bytes. Readers need not understand a longer one (RFC 5280 §5.2.3). */
const MAX_NUMBER_BYTES = 20;

/**
 * The limit of a serial number in bytes: 20, as a Revocation may name them, and an octet for the
 * sign. RFC 5280 §4.1.2.2 counts that octet among the 20, but some CAs do not.
 */
const MAX_REVOKED_SERIAL_BYTES = 21;

/** The highest number of CRLReason. */
const MAX_REASON = 10;

/** One entry of a CRL (RFC 5280 §5.1.2.6, §5.3). */
export interface RevokedCertificate {
  /** Contents of the INTEGER: big-endian, not negative, 1 to 21 bytes. */
  readonly serial: Uint8Array;
  /** Milliseconds since 1970. */
  readonly revokedAt: number;
  readonly reason: CrlReason;
}

/**
 * A decoded TBSCertList of version 2 (RFC 5280 §5.1). Bytes are views of the input: do not modify
 * it.
 */
export interface TbsCertificateList {
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  readonly issuer: DistinguishedName;
  /** Milliseconds since 1970. */
  readonly thisUpdate: number;
  /** Milliseconds since 1970. */
  readonly nextUpdate: number;
  /** The entries in the order of the list, each serial number once. */
  readonly revoked: readonly RevokedCertificate[];
  readonly number: bigint;
  readonly authorityKeyIdentifier: Uint8Array;
}

/** A decoded CRL. Its signature is not verified. */
export interface CertificateList extends TbsCertificateList {
  /** The whole DER. */
  readonly raw: Uint8Array;
  /** DER TBSCertList with its header: the bytes that the signature covers. */
  readonly tbs: Uint8Array;
  /** Contents of the BIT STRING, for ECDSA in DER (RFC 3279 §2.2.3). */
  readonly signature: Uint8Array;
}

/**
 * Decodes a full CRL in the form that this project's CAs issue (RFC 5280 §5): version 2, with
 * nextUpdate, cRLNumber and authorityKeyIdentifier, of at most 1 MiB. Rejects any other extension,
 * whether it is critical or not: with an issuingDistributionPoint or a deltaCRLIndicator the list
 * would be incomplete.
 *
 * @throws SignerError DER_MALFORMED, DER_LIMIT or NAME_INVALID
 */
export function decodeCertificateList(der: Uint8Array): CertificateList {
  const fields = readWhole(der, 'the CRL', MAX_LIST_BYTES);
  const tbs = fields.raw('the to-be-signed part', TAG_SEQUENCE);
  const algorithm = readAlgorithmIdentifier(fields, 'the signature algorithm');
  const signature = wholeBytes(fields.read(TAG_BIT_STRING, 'the signature'), 'the signature');
  fields.finish();
  const decoded = decodeTbsList(tbs);
  // They must be equal (RFC 5280 §5.1.1.2), because the signature covers only the inner one.
  if (!sameBytes(algorithm, decoded.signatureAlgorithm)) {
    throw malformed('the inner and the outer signature algorithm of the CRL differ');
  }
  return { ...decoded, raw: der, tbs, signature };
}

/**
 * Decodes a DER TBSCertList with its header (RFC 5280 §5.1.2).
 *
 * @throws SignerError as {@link decodeCertificateList}
 */
export function decodeTbsList(der: Uint8Array): TbsCertificateList {
  const fields = readWhole(der, 'the to-be-signed part', MAX_LIST_BYTES);
  requireVersion(fields.read(TAG_INTEGER, 'the version'), VERSION);
  const signatureAlgorithm = readAlgorithmIdentifier(fields, 'the inner signature algorithm');
  const issuer = readName(fields, 'the issuer');
  const thisUpdate = readValidityTime(fields, 'thisUpdate');
  const nextUpdate = readValidityTime(fields, 'nextUpdate');
  if (nextUpdate <= thisUpdate) throw malformed('nextUpdate is not after thisUpdate');
  const revoked = fields.at(TAG_SEQUENCE)
    ? readRevoked(fields.sequence('the revoked certificates'))
    : [];
  const explicit = fields.enter(contextConstructed(0), 'the extensions of the CRL');
  const extensions = readExtensions(explicit);
  explicit.finish();
  fields.finish();
  const validity = { thisUpdate, nextUpdate };
  return { signatureAlgorithm, issuer, ...validity, revoked, ...interpret(extensions) };
}

/** Reads the entries. An empty list is absent (RFC 5280 §5.1.2.6). */
function readRevoked(list: DerReader): readonly RevokedCertificate[] {
  if (list.isDone()) throw list.malformed('the list of revoked certificates is empty');
  const found = new Map<string, RevokedCertificate>();
  while (!list.isDone()) {
    const entry = readEntry(list.sequence('an entry'));
    const serial = unsignedBigInt(entry.serial).toString(16);
    if (found.has(serial)) throw malformed(`the serial number ${serial} occurs twice`);
    found.set(serial, entry);
  }
  return [...found.values()];
}

function readEntry(fields: DerReader): RevokedCertificate {
  const serial = readSerial(fields, MAX_REVOKED_SERIAL_BYTES);
  const revokedAt = readValidityTime(fields, 'a revocation date');
  const extensions = fields.isDone() ? [] : readExtensions(fields);
  fields.finish();
  let reason: CrlReason = 'unspecified';
  for (const extension of extensions) {
    requireKnown(extension, [OID_REASON_CODE], 'an entry of the CRL');
    reason = decodeReason(extension.value);
  }
  return { serial, revokedAt, reason };
}

/** Decodes a reason. `unspecified` is absent (RFC 5280 §5.3.1). */
function decodeReason(value: Uint8Array): CrlReason {
  const outer = new DerReader(value, 'reasonCode');
  const contents = outer.read(TAG_ENUMERATED, 'reasonCode');
  outer.finish();
  const code = smallInteger(contents, 'reasonCode', MAX_REASON);
  const found = keysOf(REVOCATION_REASONS).find((each) => REVOCATION_REASONS[each] === code);
  if (found === undefined || code === 0) {
    throw malformed(`reasonCode is ${code}, which no entry of a leaf may have`);
  }
  return found;
}

function interpret(
  extensions: readonly Extension[],
): Pick<TbsCertificateList, 'number' | 'authorityKeyIdentifier'> {
  const known = [OID_AUTHORITY_KEY_IDENTIFIER, OID_CRL_NUMBER];
  for (const each of extensions) requireKnown(each, known, 'the CRL');
  const valueOf = (oid: string): Uint8Array | undefined =>
    extensions.find((each) => each.oid === oid)?.value;
  const [keyId, number] = [valueOf(OID_AUTHORITY_KEY_IDENTIFIER), valueOf(OID_CRL_NUMBER)];
  const authorityKeyIdentifier = keyId && decodeAuthorityKeyIdentifier(keyId);
  if (authorityKeyIdentifier === undefined || number === undefined) {
    throw malformed('the CRL has no cRLNumber, or no authorityKeyIdentifier with a key identifier');
  }
  if (!sameBytes(keyId, encodedKeyIdentifier(authorityKeyIdentifier).value)) {
    throw malformed('the authorityKeyIdentifier of the CRL names an issuer or a serial number');
  }
  return { number: decodeNumber(number), authorityKeyIdentifier };
}

/**
 * Throws for an unknown or critical extension. Each known one is not critical (RFC 5280 §5.2.1,
 * §5.2.3, §5.3.1).
 */
function requireKnown({ oid, critical }: Extension, known: readonly string[], what: string): void {
  if (!known.includes(oid)) throw malformed(`${what} has the extension ${oid}`);
  if (critical) throw malformed(`extension ${oid} of ${what} is critical`);
}

function decodeNumber(value: Uint8Array): bigint {
  const outer = new DerReader(value, 'cRLNumber');
  const contents = checkInteger(outer.read(TAG_INTEGER, 'cRLNumber'), 'cRLNumber');
  outer.finish();
  if (((contents[0] ?? 0) & 0x80) !== 0) throw malformed('cRLNumber is negative');
  if (contents.length > MAX_NUMBER_BYTES) {
    throw inputError('DER_LIMIT', `cRLNumber has ${contents.length} bytes, more than 20`);
  }
  return unsignedBigInt(contents);
}
