// SPDX-License-Identifier: Apache-2.0
import type { OrderObjectStatus } from '../../api/acme/index.ts';
import type { RevocationRecord } from '../revocation.ts';
import { definedOnly, waitingFromStatus, waitingToStatus } from './waiting.ts';

type RevocationStatus = NonNullable<OrderObjectStatus['revocation']>;

/** The record of `status.revocation`. */
export function revocationRecordOf(status: RevocationStatus): RevocationRecord {
  const { asked, state } = status;
  return { asked, state, ...waitingFromStatus(status) };
}

/** The same as `status.revocation`. */
export function revocationStatusOf(record: RevocationRecord): RevocationStatus {
  const { asked, state } = record;
  return definedOnly<RevocationStatus>({ asked, state, ...waitingToStatus(record) });
}
