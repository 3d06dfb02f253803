// SPDX-License-Identifier: Apache-2.0
import type { OrderObjectStatus } from '../../api/acme/index.ts';
import type { AuthorizationRecord, OrderRecord } from '../record.ts';
import { definedOnly, waitingFromStatus, waitingToStatus } from './waiting.ts';

/** Challenges of an authorization, by the CRD. */
const MAX_OFFERED = 32;

/** The record of an Order's status. The URL of the certificate is not in the status: it is read again. */
export function orderRecordOf(status: OrderObjectStatus): OrderRecord {
  const { state, url, replacesRefused = false, authorizations = [], certificate } = status;
  return {
    ...waitingFromStatus(status),
    ...{ url, state, replacesRefused },
    authorizations: authorizations.map(authorizationOf),
    chain: certificate,
  };
}

function authorizationOf({
  url,
  name,
  wildcard = false,
  wasValid = false,
  offered = [],
}: NonNullable<OrderObjectStatus['authorizations']>[number]): AuthorizationRecord {
  return { url, name, wildcard, wasValid, offered };
}

/** The status of an Order. What other loops wrote, `renewal` and `revocation`, is kept. */
export function orderStatusOf(record: OrderRecord, before: OrderObjectStatus): OrderObjectStatus {
  const { state, url, replacesRefused, authorizations, chain } = record;
  return definedOnly<OrderObjectStatus>({
    ...{ state, url, certificate: chain },
    ...waitingToStatus(record),
    replacesRefused: replacesRefused ? true : undefined,
    authorizations: authorizations.length === 0 ? undefined : authorizations.map(bounded),
    renewal: before.renewal,
    revocation: before.revocation,
  });
}

function bounded(record: AuthorizationRecord) {
  const offered = record.offered.slice(0, MAX_OFFERED).map(({ type, url, token }) => ({
    ...{ type, url },
    ...(token === undefined ? {} : { token }),
  }));
  return { ...record, offered };
}
