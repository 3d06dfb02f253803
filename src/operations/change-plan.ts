// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '../api/object/time.ts';
import type { SignerState } from './signer-state.ts';

/** The only fields that a verb ever writes. */
export interface Change {
  /** `metadata.annotations` to set. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fingerprints to add to `spec.authority.managed.distrusted`. */
  readonly distrust?: readonly string[];
}

/** Why an order is not to be given. */
export interface PreflightError {
  readonly message: string;
  /** `--force` does not help: there is nothing that could be written. */
  readonly fatal?: boolean;
}

/** What a gate makes of a verb. */
export interface ChangePlan {
  /** The CA that it is about, where there is one. */
  readonly target?: string;
  /** Undefined where nothing is to be written. */
  readonly change?: Change;
  readonly preflightErrors: readonly PreflightError[];
  /** What happens now, and when. */
  readonly notes: readonly string[];
}

/** An order that cannot be given at all. */
export function impossible(message: string): ChangePlan {
  return { preflightErrors: [{ message, fatal: true }], notes: [] };
}

/** Why it is refused; empty when it may be given. */
export function unresolvedErrors(
  { preflightErrors }: ChangePlan,
  force: boolean,
): readonly PreflightError[] {
  return preflightErrors.filter(({ fatal }) => !force || fatal === true);
}

/**
 * The annotation's text for an order of now. Rounded up to a whole second: cut off, it would be
 * earlier than a CA that began to sign within this second, and be taken for carried out already.
 *
 * @param now - milliseconds of the API server's clock
 */
export function annotationTime(now: number): string {
  return formatTime(Math.ceil(now / 1000) * 1000);
}

/** Says that an order for later is lost when the annotation is written now. */
export function replacedScheduleNotes(
  { signer, now }: SignerState,
  annotation: string,
): readonly string[] {
  const at = parseTime(signer.metadata.annotations?.[annotation] ?? '');
  return at > now ? [`this takes the place of the one planned for ${formatTime(at)}`] : [];
}
