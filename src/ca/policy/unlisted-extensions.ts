// SPDX-License-Identifier: Apache-2.0
import { attempt, SignerError } from '#base/errors.ts';
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_EXTENSION_REQUEST,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '#pki/der/oids.ts';
import {
  usageBits,
  usageOfBit,
  usageOfPurpose,
  type KeyUsageBit,
  type UsageBits,
} from '#pki/extensions/usages.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { isUsableBit } from './usable-usages.ts';
import * as messages from './denial-messages.ts';

/** A request and the usages of its object. */
interface WithUsages {
  readonly request: CertificationRequest;
  /** `spec.usages`. */
  readonly usages: readonly string[];
}

const NONE: UsageBits = { keyUsage: [], extKeyUsage: [] };

/**
 * Checks by extension that it adds nothing to the names and usages of the request, which rules
 * check.
 */
const LISTED_BY_SPEC: Readonly<
  Record<string, (request: CertificationRequest, listed: UsageBits) => boolean>
> = {
  [OID_SUBJECT_ALT_NAME]: () => true,
  // A digest of the key. The signer gives the leaf its own.
  [OID_SUBJECT_KEY_IDENTIFIER]: () => true,
  [OID_BASIC_CONSTRAINTS]: ({ isCa }) => !isCa,
  [OID_KEY_USAGE]: (request, listed) => extraBits(request, listed).length === 0,
  [OID_EXT_KEY_USAGE]: (request, listed) => extraPurposes(request, listed).length === 0,
};

/** Returns the bits of keyUsage that the usages do not have. No leaf gets a bit of another key. */
function extraBits(
  { keyUsage, publicKey }: CertificationRequest,
  listed: UsageBits,
): readonly KeyUsageBit[] {
  return [...(keyUsage ?? [])]
    .filter((bit) => isUsableBit(bit, publicKey.algorithm))
    .filter((bit) => !listed.keyUsage.includes(bit));
}

function extraPurposes(
  { extKeyUsage }: CertificationRequest,
  listed: UsageBits,
): readonly string[] {
  return (extKeyUsage ?? []).filter((purpose) => !listed.extKeyUsage.includes(purpose));
}

function specUsages(usages: readonly string[]): UsageBits {
  const bits = attempt(() => usageBits(usages));
  // An unknown usage is a mismatch of its own.
  return bits instanceof SignerError ? NONE : bits;
}

/** Returns the OIDs of a request's extensions that add something to its names and usages. */
export function unlistedExtensions({ request, usages }: WithUsages): readonly string[] {
  const listed = specUsages(usages);
  return request.extensions
    .map(({ oid }) => oid)
    .filter((oid) => LISTED_BY_SPEC[oid]?.(request, listed) !== true);
}

/**
 * Returns the OIDs of a request's attributes except extensionRequest, whose extensions are checked
 * one by one.
 */
export function unlistedAttributes(request: CertificationRequest): readonly string[] {
  return request.attributes.filter((oid) => oid !== OID_EXTENSION_REQUEST);
}

/** Returns an OID for a message, with its name if tools write it, and its additions. */
export function describeOid(oid: string, { request, usages }: WithUsages): string {
  const listed = specUsages(usages);
  if (oid === OID_KEY_USAGE) {
    const bits = extraBits(request, listed).map((bit) => named(bit, usageOfBit(bit)));
    return messages.extraBits(oid, 'keyUsage', bits);
  }
  if (oid === OID_EXT_KEY_USAGE) {
    const purposes = extraPurposes(request, listed).map((each) =>
      named(each, usageOfPurpose(each)),
    );
    return messages.extraBits(oid, 'extendedKeyUsage', purposes);
  }
  const name = messages.EXTENSION_NAMES[oid];
  return name === undefined ? oid : messages.namedOid(oid, name);
}

function named(value: string, usage: string | undefined): string {
  return usage === undefined ? value : messages.bitOfUsage(value, usage);
}
