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

/** The largest public certificates have some 15. */
const MAX_EXTENSIONS = 64;

/** One value of an extension that we read may be this long; the SANs are the longest. */
const MAX_EXTENSION_VALUE_BYTES = 1 << 20;

/** More purposes than this are not a restriction any more. */
const MAX_PURPOSES = 64;

/** Longer than any digest, which is what key identifiers are made of. */
const MAX_KEY_IDENTIFIER = 64;

/** No chain is so long: such a constraint says nothing. */
const MAX_PATH_LENGTH = 255;

/**
 * Reads `Extensions`, each kind at most once (RFC 5280 §4.2).
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

/** BOOLEAN DEFAULT FALSE: DER does not write the default (X.690 §11.5). */
function readDefaultFalse(fields: DerReader, what: string): boolean {
  if (!fields.at(TAG_BOOLEAN)) return false;
  if (booleanOf(fields.read(TAG_BOOLEAN, what), what)) return true;
  throw malformed(`${what} is written although it is the default`);
}

export interface BasicConstraints {
  readonly isCa: boolean;
  readonly pathLen: number | undefined;
}

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

/** Unused bits, then the nine bits that there are: of a megabyte each would become a number. */
const MAX_KEY_USAGE_BYTES = 3;
const UNKNOWN_BIT = 'keyUsage has a bit that RFC 5280 does not know';

/** At least one bit, and none that RFC 5280 §4.2.1.3 does not know. */
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

export function decodeSubjectKeyIdentifier(value: Uint8Array): Uint8Array {
  const outer = new DerReader(value, 'subjectKeyIdentifier');
  const id = outer.read(TAG_OCTET_STRING, 'subjectKeyIdentifier');
  outer.finish();
  return bounded(id, 'subjectKeyIdentifier');
}

/** The key identifier, or undefined where there are only issuer and serial. */
export function decodeAuthorityKeyIdentifier(value: Uint8Array): Uint8Array | undefined {
  const what = 'authorityKeyIdentifier';
  const fields = readWhole(value, what, MAX_EXTENSION_VALUE_BYTES);
  const id = fields.at(contextPrimitive(0)) ? fields.read(contextPrimitive(0), what) : undefined;
  const hasIssuer = fields.at(contextConstructed(1));
  if (hasIssuer) fields.raw(what);
  const hasSerial = fields.at(contextPrimitive(2));
  if (hasSerial) fields.raw(what);
  fields.finish();
  // They come together or not at all (RFC 5280 appendix A.2).
  if (hasIssuer !== hasSerial) throw malformed(`${what} has an issuer or a serial alone`);
  return id && bounded(id, what);
}

function bounded(id: Uint8Array, what: string): Uint8Array {
  if (id.length > 0 && id.length <= MAX_KEY_IDENTIFIER) return id;
  throw malformed(`${what} has ${id.length} bytes`);
}

/** A SAN of kinds that nobody matches says nothing: then it must not be critical (as Go). */
export function hasMatchableNames(names: DecodedSubjectAltNames): boolean {
  const { dnsNames, ipAddresses, uris, emails } = names;
  return dnsNames.length + ipAddresses.length + uris.length + emails.length > 0;
}
