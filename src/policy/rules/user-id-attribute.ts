// SPDX-License-Identifier: Apache-2.0
import type { RefusalRule } from '../refusal.ts';

/** The API server takes a user's UID from it (feature gate AllowParsingUserUIDFromCertAuth). */
const OID_KUBERNETES_USER_ID = '1.3.6.1.4.1.57683.2';

/** Whoever could choose a UID could pass for another user wherever UIDs are compared. */
export const userIdAttribute: RefusalRule = ({ request }) =>
  request.subject.attributes.some(({ oid }) => oid === OID_KUBERNETES_USER_ID)
    ? {
        reason: 'UserIdAttribute',
        message: `the subject has the attribute ${OID_KUBERNETES_USER_ID}, from which the API server would take a user's UID`,
      }
    : undefined;
