// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import type { ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';

/** An attempt that came to nothing. */
export type FailedAttempt = Extract<SolverOutcome, { kind: 'problem' }>;

/** The whole of one attempt: the Challenges after it wait for it. */
const ATTEMPT_MS = 30_000;

export function problem(reason: string, message: string): FailedAttempt {
  return { kind: 'problem', reason, message };
}

/** `signal`, ended with the attempt at the latest. */
export function attemptSignal(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]);
}

/** A key of a Secret as text, without line ends around it; a problem where it is not to be had. */
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

/** The value of the record. Only dns-persist-01 has none, and no solver is asked for it. */
export function valueOf({ key }: ChallengeToSolve): string {
  return key ?? '';
}
