// SPDX-License-Identifier: Apache-2.0
import {
  isFinalChallenge,
  waitsUntil,
  type ChallengeMemory,
  type ChallengeRecord,
} from './record.ts';

/** What is to be done for a Challenge now. */
export type ChallengeStep =
  | { readonly step: 'readAuthorization' | 'present' | 'selfCheck' | 'accept' | 'cleanUp' }
  /** The clean-up has failed for too long: the object may go, and what is left is reported. */
  | { readonly step: 'giveUpCleanUp' }
  /** Until it gets a slot. */
  | { readonly step: 'queue' }
  | { readonly step: 'wait'; readonly until: number }
  | { readonly step: 'done' };

/** How long a clean-up that fails is tried: a namespace that is deleted must not wait for a broken DNS server. */
const CLEAN_UP_MS = 10 * 60_000;

/**
 * The next step of a Challenge: scheduled, read from the server first, presented, checked, accepted, read, cleaned up.
 *
 * @param deletedAt - since when it is to go, if it is
 * @param now - milliseconds since 1970
 */
export function nextChallengeStep(
  record: ChallengeRecord,
  memory: ChallengeMemory,
  deletedAt: number | undefined,
  now: number,
): ChallengeStep {
  const endedAt = isFinalChallenge(record.state) ? (record.finalAt ?? now) : deletedAt;
  if (endedAt !== undefined) return cleanUpStep(record, endedAt, now);
  const until = waitsUntil(record, now);
  if (until !== undefined) return { step: 'wait', until };
  if (!record.processing) return { step: 'queue' };
  const { read, passed } = memory;
  // The server validates it already: there is nothing to do but ask.
  if (read === undefined || read.challenge === 'processing') return { step: 'readAuthorization' };
  if (!record.presented) return { step: 'present' };
  return { step: passed ? 'accept' : 'selfCheck' };
}

function cleanUpStep(record: ChallengeRecord, endedAt: number, now: number): ChallengeStep {
  if (!record.presented) return { step: 'done' };
  if (now - endedAt >= CLEAN_UP_MS) return { step: 'giveUpCleanUp' };
  // No wait holds it back: a limit of the ACME server is no reason to leave a record where it is.
  return { step: 'cleanUp' };
}
