// SPDX-License-Identifier: Apache-2.0
import type { ChallengeObjectStatus } from '../../api/acme/index.ts';
import type { ChallengeRecord } from '../record.ts';
import { definedOnly, textOf, timeOf, waitingFromStatus, waitingToStatus } from './waiting.ts';

/** The record of a Challenge's status. What `acme-solver` says of its work is not in it. */
export function challengeRecordOf(status: ChallengeObjectStatus): ChallengeRecord {
  const { state, processing = false, presented = false, presentedAt } = status;
  return {
    ...waitingFromStatus(status),
    ...{ state, processing, presented },
    presentedAt: timeOf(presentedAt),
  };
}

/** The status of a Challenge; `solver` is kept as it is. */
export function challengeStatusOf(
  record: ChallengeRecord,
  before: ChallengeObjectStatus,
): ChallengeObjectStatus {
  const { state, processing, presented, presentedAt } = record;
  return definedOnly<ChallengeObjectStatus>({
    ...{ state, processing, presented },
    ...waitingToStatus(record),
    presentedAt: textOf(presentedAt),
    solver: before.solver,
  });
}
