// SPDX-License-Identifier: Apache-2.0
import { RESERVED_PREFIXES, isReservedName } from '#api/signer/reserved-names.ts';
import { SignerError, attempt } from '#base/errors.ts';
import {
  OID_COMMON_NAME,
  OID_KUBERNETES_USER_ID,
  OID_ORGANIZATION,
  OID_ORGANIZATIONAL_UNIT,
} from '#pki/der/oids.ts';
import { attributeText } from '#pki/names/distinguished-name.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';
import { REQUEST_FIELDS, type LeafSubject, type RequestField } from '#base/vocabulary.ts';
import type { ViolationRule } from './violation.ts';
import * as messages from '../denial-messages.ts';

/**
 * Rejects names that are reserved for Kubernetes. The API server takes the user from CN and the
 * groups from O of a client certificate, so such a certificate would be an administrator, a node or
 * a ServiceAccount.
 */
export const reservedSubject: ViolationRule = ({ request, reservedPrefixes }) => {
  const reserved = request.subject.attributes
    .filter(({ oid }) => oid === OID_COMMON_NAME || oid === OID_ORGANIZATION)
    .map(({ value }) => value)
    .filter((value) => isReservedName(value, reservedPrefixes));
  if (reserved.length === 0) return undefined;
  const prefixes = [...RESERVED_PREFIXES, ...reservedPrefixes].join(', ');
  return {
    reason: 'ReservedSubject',
    message: messages.reservedSubject(reserved, prefixes),
  };
};

/**
 * Rejects a UID. A requester who chooses one could impersonate another user wherever UIDs are
 * compared.
 */
export const userIdAttribute: ViolationRule = ({ request }) =>
  request.subject.attributes.some(({ oid }) => oid === OID_KUBERNETES_USER_ID)
    ? {
        reason: 'UserIdAttribute',
        message: messages.UID_ATTRIBUTE,
      }
    : undefined;

/**
 * Rejects a name with two spellings. It could match a rule in one of them, while software uses the
 * other.
 */
export const malformedName: ViolationRule = ({ request }) => {
  const names = attempt(() => requestedNames(request));
  return names instanceof SignerError
    ? { reason: 'MalformedName', message: names.message }
    : undefined;
};

/** Rejects directory names, registered IDs and otherNames, which no field of a rule can allow. */
export const nameKinds: ViolationRule = ({ request }) =>
  request.sans.other === 0
    ? undefined
    : {
        reason: 'UnknownNameKind',
        message: messages.unknownNameKinds(request.sans.other),
      };

/** Fields of cert-manager's Certificate by attribute. Only its literalSubject has the others. */
const CERTIFICATE_FIELDS: ReadonlyMap<string, string> = new Map([
  ['2.5.4.6', 'countries'],
  ['2.5.4.7', 'localities'],
  ['2.5.4.8', 'provinces'],
  ['2.5.4.9', 'streetAddresses'],
  ['2.5.4.17', 'postalCodes'],
  ['2.5.4.5', 'serialNumber'],
]);

/**
 * Rejects subject attributes that no leaf gets where the leaf must have the whole subject. No rule
 * can allow them, so waiting would not help.
 */
export const unsupportedSubject: ViolationRule = ({ request, profile }) => {
  if (profile.isWhole !== true) return undefined;
  const { attributes } = request.subject;
  const types = [...new Set(attributes.map(({ oid }) => oid))]
    // userIdAttribute reports it.
    .filter((oid) => oid !== OID_KUBERNETES_USER_ID && !COPIED.has(oid));
  if (types.length === 0) return undefined;
  const removals = types.map((oid) => {
    const field = CERTIFICATE_FIELDS.get(oid);
    return field === undefined
      ? messages.inLiteralSubject(attributeText(oid))
      : `spec.subject.${field}`;
  });
  const message = messages.unsupportedSubject(types.map(attributeText), removals);
  return { reason: 'UnsupportedSubject', message };
};

const COPIED: ReadonlySet<string> = new Set([
  OID_COMMON_NAME,
  OID_ORGANIZATION,
  OID_ORGANIZATIONAL_UNIT,
]);

/** Requires a name: a leaf needs a subject or a subject alternative name (RFC 5280 §4.1.2.6). */
export const noCopiedName: ViolationRule = ({ request, profile }) => {
  const names = attempt(() => requestedNames(request));
  // malformedName reports unreadable names.
  if (names instanceof SignerError || profile.copy.some((field) => names[field].length > 0)) {
    return undefined;
  }
  return {
    reason: 'NoIdentity',
    message: messages.noIdentity(whyNameless(profile.copy, names)),
  };
};

function whyNameless(copy: readonly RequestField[], names: LeafSubject): string {
  const present = REQUEST_FIELDS.filter((field) => names[field].length > 0);
  if (present.length === 0) return messages.NO_NAMES;
  return copy.length === 0 ? messages.noCopies(present) : messages.noneOfCopies(copy, present);
}
