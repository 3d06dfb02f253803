// SPDX-License-Identifier: Apache-2.0
import type { ChallengeObjectStatus } from '#api/acme/challenge.ts';
import type { ChallengeMemory } from './memory.ts';
import { isFinalChallenge, timeOf, waitsUntil } from './status.ts';

/** Next action for a Challenge. */
export type ChallengeStep =
  | { readonly step: 'readAuthorization' | 'present' | 'selfCheck' | 'accept' | 'cleanUp' }
  /** The clean-up has failed for too long: release the object and report what remains. */
  | { readonly step: 'giveUpCleanUp' }
  /** The authorization has reached the expiry that the server gave. */
  | { readonly step: 'expire' }
  /** Its record or file is removed, or left in place: others are next. */
  | { readonly step: 'release'; readonly isLeft: boolean }
  /** The Challenge waits for a slot. */
  | { readonly step: 'queue' }
  | { readonly step: 'wait'; readonly until: number }
  | { readonly step: 'done' };

/** Steps that end a turn, an authorization, or a Challenge. */
export type ConcludingStep = Extract<
  ChallengeStep,
  { readonly step: 'expire' | 'release' | 'giveUpCleanUp' | 'done' }
>;

export function isConcluding(step: ChallengeStep): step is ConcludingStep {
  return ['expire', 'release', 'giveUpCleanUp', 'done'].includes(step.step);
}

/**
 * Time limit of a failing clean-up: the deletion of a namespace must not wait for a broken DNS
 * server.
 */
const CLEAN_UP_MS = 10 * 60_000;

/**
 * Returns the next step of a Challenge. It gets a slot, is read from the server, presented,
 * checked, accepted, read again, and cleaned up.
 *
 * @param deletedAt - time of the deletion, if any
 * @param now - milliseconds since 1970
 */
export function nextChallengeStep(
  status: ChallengeObjectStatus,
  memory: ChallengeMemory,
  deletedAt: number | undefined,
  now: number,
): ChallengeStep {
  const endedAt = isFinalChallenge(status.state) ? (timeOf(status.finalAt) ?? now) : deletedAt;
  if (endedAt !== undefined) return cleanUpStep(status, endedAt, now);
  if (memory.expiresAt !== undefined && now >= memory.expiresAt) return { step: 'expire' };
  if (memory.yieldedAt !== undefined) return yieldStep(status, memory.yieldedAt, now);
  const until = waitsUntil(status, now);
  return until === undefined ? provingStep(status, memory) : { step: 'wait', until };
}

function provingStep(
  { processing, presented }: ChallengeObjectStatus,
  { read, passed }: ChallengeMemory,
): ChallengeStep {
  if (processing !== true) return { step: 'queue' };
  // The server already validates it: only polling remains.
  if (read === undefined || read.challenge === 'processing') return { step: 'readAuthorization' };
  if (presented !== true) return { step: 'present' };
  return { step: passed ? 'accept' : 'selfCheck' };
}

function yieldStep(
  { presented }: ChallengeObjectStatus,
  since: number,
  now: number,
): ChallengeStep {
  if (presented !== true) return { step: 'release', isLeft: false };
  return now - since >= CLEAN_UP_MS ? { step: 'release', isLeft: true } : { step: 'cleanUp' };
}

function cleanUpStep(
  { presented }: ChallengeObjectStatus,
  endedAt: number,
  now: number,
): ChallengeStep {
  if (presented !== true) return { step: 'done' };
  if (now - endedAt >= CLEAN_UP_MS) return { step: 'giveUpCleanUp' };
  // No wait applies: a limit of the ACME server must not delay the removal of a record.
  return { step: 'cleanUp' };
}
