// SPDX-License-Identifier: Apache-2.0
import { RESERVED_PREFIXES, isReservedName } from '../../api/signer/reserved-names.ts';
import { OID_COMMON_NAME, OID_ORGANIZATION } from '../../pki/der/oids.ts';
import type { ViolationRule } from './violation.ts';
import { quoteList } from '../quote.ts';
import { attempt, SignerError } from '../../errors.ts';
import { requestedNames } from '../../pki/x509/requested-names.ts';

/** The API server takes user and groups from CN and O: nobody becomes Kubernetes itself here. */
export const reservedSubject: ViolationRule = ({ request, reservedPrefixes }) => {
  const reserved = request.subject.attributes
    .filter(({ oid }) => oid === OID_COMMON_NAME || oid === OID_ORGANIZATION)
    .map(({ value }) => value)
    .filter((value) => isReservedName(value, reservedPrefixes));
  if (reserved.length === 0) return undefined;
  const prefixes = [...RESERVED_PREFIXES, ...reservedPrefixes].join(', ');
  return {
    reason: 'ReservedSubject',
    message: `the subject has ${quoteList(reserved)}: names that begin with ${prefixes} are never signed`,
  };
};

/** The API server takes a user's UID from it (feature gate AllowParsingUserUIDFromCertAuth). */
const OID_KUBERNETES_USER_ID = '1.3.6.1.4.1.57683.2';

/** Whoever could choose a UID could pass for another user wherever UIDs are compared. */
export const userIdAttribute: ViolationRule = ({ request }) =>
  request.subject.attributes.some(({ oid }) => oid === OID_KUBERNETES_USER_ID)
    ? {
        reason: 'UserIdAttribute',
        message: `the subject has the attribute ${OID_KUBERNETES_USER_ID}, from which the API server would take a user's UID`,
      }
    : undefined;

/** A name with two spellings or two readings is matched by one and used by the other. */
export const malformedName: ViolationRule = ({ request }) => {
  const names = attempt(() => requestedNames(request));
  return names instanceof SignerError
    ? { reason: 'MalformedName', message: names.message }
    : undefined;
};

/** Directory names, registered ids and other names have no rule that could allow them. */
export const nameKinds: ViolationRule = ({ request }) =>
  request.sans.other === 0
    ? undefined
    : {
        reason: 'UnknownNameKind',
        message: `${request.sans.other} of the subject alternative names are neither DNS names, IP addresses, URIs nor emails; ask without them`,
      };

/** A leaf with neither a subject nor a subject alternative name identifies nobody (RFC 5280 §4.1.2.6). */
export const noCopiedName: ViolationRule = ({ request, profile }) => {
  const names = attempt(() => requestedNames(request));
  // Names that cannot be read are malformed-name.ts' business.
  if (names instanceof SignerError || profile.copy.some((field) => names[field].length > 0)) {
    return undefined;
  }
  const taken = profile.copy.length === 0 ? 'nothing' : profile.copy.join(', ');
  return {
    reason: 'NamesNobody',
    message: `a leaf takes ${taken} of a request (spec.requests.copy), and this request has none of it`,
  };
};
