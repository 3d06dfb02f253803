// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import type { ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';

/** A failed attempt. */
export type FailedAttempt = Extract<SolverOutcome, { kind: 'problem' }>;

/** Time limit of one attempt: the next Challenges wait for it. */
const ATTEMPT_MS = 30_000;

export function problem(reason: string, message: string): FailedAttempt {
  return { kind: 'problem', reason, message };
}

/** Adds the time limit of an attempt to `signal`. */
export function attemptSignal(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]);
}

/** Returns a key of a Secret as trimmed text, or a problem. */
export async function credentialText(
  { credential }: Pick<SolverContext, 'credential'>,
  secret: string,
  key: string,
): Promise<string | FailedAttempt> {
  try {
    return (await credential(secret, key)).toString('utf8').trim();
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return problem('CredentialUnusable', error.message);
  }
}

/** Returns the value of the record. Only dns-persist-01 has none, and it has no solver. */
export function valueOf({ key }: ChallengeToSolve): string {
  return key ?? '';
}
