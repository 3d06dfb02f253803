// SPDX-License-Identifier: Apache-2.0
import { conditionMessage } from '../../api/request/conditions.ts';
import type { OrderObjectStatus } from '../../api/acme/index.ts';
import type { RenewalRecord } from '../renewal.ts';
import { definedOnly, MAX_MESSAGE_BYTES, textOf, timeOf } from './waiting.ts';

type RenewalStatus = NonNullable<OrderObjectStatus['renewal']>;

/** The record of `status.renewal`. */
export function renewalRecordOf(status: RenewalStatus): RenewalRecord {
  const { explanationURL, reason, message } = status;
  const [start, end] = [timeOf(status.windowStart), timeOf(status.windowEnd)];
  return {
    ...{ explanationURL, reason, message },
    window: start === undefined || end === undefined ? undefined : { start, end },
    renewAt: timeOf(status.renewAt),
    checkAt: timeOf(status.checkAt),
    markedAt: timeOf(status.markedAt),
  };
}

/** The same as `status.renewal`. */
export function renewalStatusOf(record: RenewalRecord): RenewalStatus {
  const { window, explanationURL, reason, message } = record;
  return definedOnly<RenewalStatus>({
    windowStart: textOf(window?.start),
    windowEnd: textOf(window?.end),
    explanationURL,
    renewAt: textOf(record.renewAt),
    checkAt: textOf(record.checkAt),
    reason,
    message: message === undefined ? undefined : conditionMessage(message, MAX_MESSAGE_BYTES),
    markedAt: textOf(record.markedAt),
  });
}
