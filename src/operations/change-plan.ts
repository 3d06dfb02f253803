// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '#api/object/time.ts';
import type { ManualUpstream } from '#api/signer/cluster-signer.ts';
import type { SignerState } from './signer-state.ts';

/** The fields that a verb may write, and no others. */
export interface Change {
  /** `metadata.annotations` to set: name to value. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fingerprints to add to `spec.authority.managed.distrusted`. */
  readonly distrust?: readonly string[];
  /** Fields of `spec.authority.managed.upstream.manual` to set. */
  readonly upstream?: Partial<ManualUpstream>;
}

/** A reason not to write the change. */
export interface PreflightError {
  readonly message: string;
  /** Whether `--force` cannot override it, because there is nothing to write. */
  readonly fatal?: boolean;
}

/**
 * The change that a verb would write, and the reasons against it. Pure data: nothing is written
 * yet.
 */
export interface ChangePlan {
  /** Fingerprint of the CA that the verb acts on, if there is one. */
  readonly target?: string;
  /** Absent if there is nothing to write. */
  readonly change?: Change;
  readonly preflightErrors: readonly PreflightError[];
  /** Notes for the user about the next steps and their times. */
  readonly notes: readonly string[];
}

/** Returns a plan that writes nothing, with or without `--force`. */
export function impossible(message: string): ChangePlan {
  return { preflightErrors: [{ message, fatal: true }], notes: [] };
}

/**
 * Returns the unresolved preflight errors: all, or with `--force` only the fatal ones. If there are
 * none, the change may be written.
 */
export function unresolvedErrors(
  { preflightErrors }: ChangePlan,
  force: boolean,
): readonly PreflightError[] {
  return preflightErrors.filter(({ fatal }) => !force || fatal === true);
}

/**
 * Returns the value of an annotation that requests a rotation now. It rounds up to a whole second.
 * Rounded down, it would precede a CA that became active within this second, and would count as
 * done.
 * @param now - milliseconds since the epoch, by the API server's clock
 * @returns RFC 3339, whole seconds, UTC
 */
export function annotationTime(now: number): string {
  return formatTime(Math.ceil(now / 1000) * 1000);
}

/** Returns a note if the annotation replaces a rotation that is scheduled for later. */
export function replacedScheduleNotes(
  { signer, now }: SignerState,
  annotation: string,
): readonly string[] {
  const at = parseTime(signer.metadata.annotations?.[annotation] ?? '');
  return at > now ? [`replaces the rotation scheduled for ${formatTime(at)}`] : [];
}
