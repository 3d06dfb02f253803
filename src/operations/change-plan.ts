// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '../api/object/time.ts';
import type { SignerState } from './signer-state.ts';

/** The fields that a verb may write, and no others. */
export interface Change {
  /** `metadata.annotations` to set: name to value. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fingerprints to add to `spec.authority.managed.distrusted`. */
  readonly distrust?: readonly string[];
}

/** A reason not to write the change. */
export interface PreflightError {
  readonly message: string;
  /** `--force` does not override it: there is nothing to write. */
  readonly fatal?: boolean;
}

/** What a verb would write, and what speaks against it. Pure data: nothing is written yet. */
export interface ChangePlan {
  /** Fingerprint of the CA that the verb acts on, if there is one. */
  readonly target?: string;
  /** Absent when there is nothing to write. */
  readonly change?: Change;
  readonly preflightErrors: readonly PreflightError[];
  /** For the user: what happens next, and when. */
  readonly notes: readonly string[];
}

/** A plan that writes nothing, with or without `--force`. */
export function impossible(message: string): ChangePlan {
  return { preflightErrors: [{ message, fatal: true }], notes: [] };
}

/** The preflight errors that still stand: with `--force` the fatal ones only. Empty when the change may be written. */
export function unresolvedErrors(
  { preflightErrors }: ChangePlan,
  force: boolean,
): readonly PreflightError[] {
  return preflightErrors.filter(({ fatal }) => !force || fatal === true);
}

/**
 * The value of a rotation annotation that requests a rotation now. Rounded up to a whole second: rounded
 * down, it would lie before a CA that became active within this second, and would count as done.
 *
 * @param now - milliseconds since the epoch, by the API server's clock
 * @returns RFC 3339, whole seconds, UTC
 */
export function annotationTime(now: number): string {
  return formatTime(Math.ceil(now / 1000) * 1000);
}

/** A note if writing the annotation now replaces a rotation that is scheduled for later. */
export function replacedScheduleNotes(
  { signer, now }: SignerState,
  annotation: string,
): readonly string[] {
  const at = parseTime(signer.metadata.annotations?.[annotation] ?? '');
  return at > now ? [`replaces the rotation scheduled for ${formatTime(at)}`] : [];
}
