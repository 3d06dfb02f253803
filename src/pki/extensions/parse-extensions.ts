// SPDX-License-Identifier: Apache-2.0
import { DerReader, readWhole } from '../der/der-reader.ts';
import {
  TAG_BIT_STRING,
  TAG_BOOLEAN,
  TAG_INTEGER,
  TAG_OCTET_STRING,
  TAG_OID,
  contextConstructed,
  contextPrimitive,
} from '../der/der-tags.ts';
import { booleanOf, namedBits, oidOf, smallInteger } from '../der/der-values.ts';
import type { Extension } from './encode-extensions.ts';
import type { DecodedSubjectAltNames } from '../names/general-names.ts';
import { inputError, malformed } from '../der/input-error.ts';
import { KEY_USAGE_BITS, type KeyUsageBit } from './usages.ts';

/** The limit of extensions. Public certificates have about 15 at most. */
const MAX_EXTENSIONS = 64;

/**
 * The limit of one decoded value in bytes. The certificate or request around it has a lower limit
 * of its own.
 */
const MAX_EXTENSION_VALUE_BYTES = 1 << 20;

/** The limit of purposes. Certificates have a few. */
const MAX_PURPOSES = 64;

/** The limit of a key identifier in bytes. It is a digest, and no digest in use is longer. */
const MAX_KEY_IDENTIFIER = 64;

/** The limit of a path length. No chain is so long. */
const MAX_PATH_LENGTH = 255;

/**
 * Reads the Extensions at the reader's position: at least one, each type at most once (RFC 5280
 * §4.2).
 *
 * @returns the extensions in order, with undecoded values
 *
 * @throws SignerError DER_MALFORMED or DER_LIMIT
 */
export function readExtensions(reader: DerReader): readonly Extension[] {
  const list = reader.sequence('the extensions');
  if (list.isDone()) throw list.malformed('the extensions are empty');
  const found = new Map<string, Extension>();
  while (!list.isDone()) {
    const extension = readExtension(list.sequence('an extension'));
    if (found.has(extension.oid)) throw malformed(`extension ${extension.oid} occurs twice`);
    found.set(extension.oid, extension);
    if (found.size > MAX_EXTENSIONS) {
      throw inputError('DER_LIMIT', `there are more than ${MAX_EXTENSIONS} extensions`);
    }
  }
  return [...found.values()];
}

function readExtension(fields: DerReader): Extension {
  const oid = oidOf(fields.read(TAG_OID, 'an extension type'), 'an extension type');
  const critical = readDefaultFalse(fields, `critical of extension ${oid}`);
  const value = fields.read(TAG_OCTET_STRING, `the value of extension ${oid}`);
  fields.finish();
  return { oid, critical, value };
}

/**
 * Reads a BOOLEAN DEFAULT FALSE. DER omits the default (X.690 §11.5), but some encoders write it
 * (pyca/cryptography#6368), and every reader takes it for what it is.
 */
function readDefaultFalse(fields: DerReader, what: string): boolean {
  return fields.at(TAG_BOOLEAN) && booleanOf(fields.read(TAG_BOOLEAN, what), what);
}

/** A decoded basicConstraints extension (RFC 5280 §4.2.1.9). */
export interface BasicConstraints {
  readonly isCa: boolean;
  /** The number of CAs that may follow below. Undefined for any number. */
  readonly pathLen: number | undefined;
}

/**
 * Decodes a basicConstraints extension (RFC 5280 §4.2.1.9).
 *
 * @param value - the contents of the extnValue OCTET STRING
 * @throws SignerError DER_MALFORMED, also for a path length without cA or above 255, or DER_LIMIT
 */
export function decodeBasicConstraints(value: Uint8Array): BasicConstraints {
  const fields = readWhole(value, 'basicConstraints', MAX_EXTENSION_VALUE_BYTES);
  const isCa = readDefaultFalse(fields, 'cA of basicConstraints');
  const what = 'the path length of basicConstraints';
  const pathLen = fields.at(TAG_INTEGER)
    ? smallInteger(fields.read(TAG_INTEGER, what), what, MAX_PATH_LENGTH)
    : undefined;
  fields.finish();
  if (!isCa && pathLen !== undefined) throw malformed(`${what} is there without cA`);
  return { isCa, pathLen };
}

/**
 * The number of unused bits, then 32 bits, which some encoders always write, although nine have a
 * meaning. Checked first, because each bit costs a step.
 */
const MAX_KEY_USAGE_BYTES = 5;
const UNKNOWN_BIT = 'keyUsage has a bit that RFC 5280 does not define';

/**
 * Decodes a keyUsage extension: at least one bit, and only bits that RFC 5280 §4.2.1.3 defines.
 *
 * @param value - the contents of the extnValue OCTET STRING
 * @throws SignerError DER_MALFORMED
 */
export function decodeKeyUsage(value: Uint8Array): ReadonlySet<KeyUsageBit> {
  const outer = new DerReader(value, 'keyUsage');
  const contents = outer.read(TAG_BIT_STRING, 'keyUsage');
  outer.finish();
  if (contents.length > MAX_KEY_USAGE_BYTES) throw malformed(UNKNOWN_BIT);
  const numbers = namedBits(contents, 'keyUsage');
  const bits = numbers.map((number) => KEY_USAGE_BITS[number]);
  if (bits.length === 0) throw malformed('keyUsage has no bit set');
  return new Set(
    bits.map((bit) => {
      if (bit === undefined) throw malformed(UNKNOWN_BIT);
      return bit;
    }),
  );
}

/**
 * Decodes an extKeyUsage extension: 1 to 64 purposes (RFC 5280 §4.2.1.12).
 *
 * @param value - the contents of the extnValue OCTET STRING
 * @returns purposes as dotted decimal text, in order
 * @throws SignerError DER_MALFORMED or DER_LIMIT
 */
export function decodeExtKeyUsage(value: Uint8Array): readonly string[] {
  const list = readWhole(value, 'extKeyUsage', MAX_EXTENSION_VALUE_BYTES);
  if (list.isDone()) throw list.malformed('extKeyUsage is empty');
  const purposes: string[] = [];
  while (!list.isDone()) {
    purposes.push(oidOf(list.read(TAG_OID, 'a purpose'), 'a purpose of extKeyUsage'));
    if (purposes.length > MAX_PURPOSES) {
      throw inputError('DER_LIMIT', `extKeyUsage has more than ${MAX_PURPOSES} purposes`);
    }
  }
  return purposes;
}

/**
 * Decodes a subjectKeyIdentifier extension (RFC 5280 §4.2.1.2).
 *
 * @param value - the contents of the extnValue OCTET STRING
 * @returns 1 to 64 bytes
 * @throws SignerError DER_MALFORMED
 */
export function decodeSubjectKeyIdentifier(value: Uint8Array): Uint8Array {
  const outer = new DerReader(value, 'subjectKeyIdentifier');
  const id = outer.read(TAG_OCTET_STRING, 'subjectKeyIdentifier');
  outer.finish();
  return bounded(id, 'subjectKeyIdentifier');
}

/**
 * Decodes an authorityKeyIdentifier extension (RFC 5280 §4.2.1.1).
 *
 * @param value - the contents of the extnValue OCTET STRING
 * @returns the key identifier, 1 to 64 bytes, or undefined when only issuer and serial are present
 * @throws SignerError DER_MALFORMED or DER_LIMIT
 */
export function decodeAuthorityKeyIdentifier(value: Uint8Array): Uint8Array | undefined {
  const what = 'authorityKeyIdentifier';
  const fields = readWhole(value, what, MAX_EXTENSION_VALUE_BYTES);
  const id = fields.at(contextPrimitive(0)) ? fields.read(contextPrimitive(0), what) : undefined;
  const hasIssuer = fields.at(contextConstructed(1));
  if (hasIssuer) fields.raw(what);
  const hasSerial = fields.at(contextPrimitive(2));
  if (hasSerial) fields.raw(what);
  fields.finish();
  // Both are present or both are absent (RFC 5280 appendix A.2).
  if (hasIssuer !== hasSerial) throw malformed(`${what} has an issuer or a serial alone`);
  return id && bounded(id, what);
}

function bounded(id: Uint8Array, what: string): Uint8Array {
  if (id.length > 0 && id.length <= MAX_KEY_IDENTIFIER) return id;
  throw malformed(`${what} has ${id.length} bytes, not 1 to ${MAX_KEY_IDENTIFIER}`);
}

/**
 * Reports whether a subjectAltName has a name of a matched kind (DNS, IP, URI, email). One without
 * is unhandled when it is critical, as in Go.
 */
export function hasMatchableNames(names: DecodedSubjectAltNames): boolean {
  const { dnsNames, ipAddresses, uris, emails } = names;
  return dnsNames.length + ipAddresses.length + uris.length + emails.length > 0;
}
