// SPDX-License-Identifier: Apache-2.0
import { RESERVED_PREFIXES, isReservedName } from '../../api/signer/reserved-names.ts';
import { OID_COMMON_NAME, OID_ORGANIZATION } from '../../pki/der/oids.ts';
import type { RefusalRule } from '../refusal.ts';
import { shownList } from '../shown.ts';

/** The API server takes user and groups from CN and O: nobody becomes Kubernetes itself here. */
export const reservedSubject: RefusalRule = ({ request, reservedPrefixes }) => {
  const reserved = request.subject.attributes
    .filter(({ oid }) => oid === OID_COMMON_NAME || oid === OID_ORGANIZATION)
    .map(({ value }) => value)
    .filter((value) => isReservedName(value, reservedPrefixes));
  if (reserved.length === 0) return undefined;
  const prefixes = [...RESERVED_PREFIXES, ...reservedPrefixes].join(', ');
  return {
    reason: 'ReservedSubject',
    message: `the subject has ${shownList(reserved)}: names that begin with ${prefixes} are never signed`,
  };
};
