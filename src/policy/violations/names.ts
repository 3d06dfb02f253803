// SPDX-License-Identifier: Apache-2.0
import { RESERVED_PREFIXES, isReservedName } from '../../api/signer/reserved-names.ts';
import { SignerError, attempt } from '../../errors.ts';
import { OID_COMMON_NAME, OID_KUBERNETES_USER_ID, OID_ORGANIZATION } from '../../pki/der/oids.ts';
import { requestedNames } from '../../pki/x509/requested-names.ts';
import { REQUEST_FIELDS, type RequestField } from '../../vocabulary.ts';
import { quoteList } from '../../quote.ts';
import type { ViolationRule } from './violation.ts';

/**
 * Names that are reserved for Kubernetes. The API server takes the user from CN and the groups from O of a
 * client certificate, so such a certificate would be an administrator, a node or a ServiceAccount.
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
    message: `the subject contains ${quoteList(reserved)}: names that begin with ${prefixes} are reserved and never signed`,
  };
};

/** A requester who chooses a UID could impersonate another user wherever UIDs are compared. */
export const userIdAttribute: ViolationRule = ({ request }) =>
  request.subject.attributes.some(({ oid }) => oid === OID_KUBERNETES_USER_ID)
    ? {
        reason: 'UserIdAttribute',
        message: `the subject contains the attribute ${OID_KUBERNETES_USER_ID}, which the API server reads as the user's UID; remove it from the request`,
      }
    : undefined;

/** A name with two spellings could match a rule in one of them and be used in the other. */
export const malformedName: ViolationRule = ({ request }) => {
  const names = attempt(() => requestedNames(request));
  return names instanceof SignerError
    ? { reason: 'MalformedName', message: names.message }
    : undefined;
};

/** Directory names, registered IDs and otherNames: no field of a rule can allow them. */
export const nameKinds: ViolationRule = ({ request }) =>
  request.sans.other === 0
    ? undefined
    : {
        reason: 'UnknownNameKind',
        message: `${request.sans.other} of the subject alternative names are of an unsupported type; request only DNS names, IP addresses, URIs and email addresses`,
      };

/** A leaf needs a subject or a subject alternative name (RFC 5280 §4.1.2.6). */
export const noCopiedName: ViolationRule = ({ request, profile }) => {
  const names = attempt(() => requestedNames(request));
  // malformedName reports names that cannot be read.
  if (names instanceof SignerError || profile.copy.some((field) => names[field].length > 0)) {
    return undefined;
  }
  return {
    reason: 'NamesNobody',
    message: `the certificate would have neither a subject nor a subject alternative name: ${copiedText(profile.copy)}`,
  };
};

function copiedText(copy: readonly RequestField[]): string {
  if (copy.length === 0) return 'this signer copies no names from requests (spec.requests.copy)';
  const where = copy.length === REQUEST_FIELDS.length ? '' : ' (spec.requests.copy)';
  return `this signer copies ${copy.join(', ')} from a request${where}, and this request has none of them`;
}
