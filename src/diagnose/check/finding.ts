// SPDX-License-Identifier: Apache-2.0
import type { CheckId } from './catalogue.ts';

/** `unseen`: the user may not read what the check needs, so nothing is known. */
export type Severity = 'ok' | 'warning' | 'error' | 'unseen';

/** Marks at the start of a finding's line. */
export const MARKS: Readonly<Record<Severity, string>> = {
  ok: '√',
  warning: '‼',
  error: '×',
  unseen: '?',
};

/** The result of a check for one subject. */
export interface Outcome {
  readonly severity: Severity;
  /**
   * Name of the object for kubectl: `clustersigner/workload`. Absent if the subject is the cluster.
   */
  readonly subject?: string;
  /** One sentence. */
  readonly why: string;
  /** Next step, a command if there is one. Absent if the check passed. */
  readonly remediation?: string;
  /** `ID SUBJECT` of the finding that causes this one. Its fix resolves this finding as well. */
  readonly causedBy?: string;
  /** True for an answer that no component repeats: only a person changes it. */
  readonly isFinal?: true;
}

/** An {@link Outcome} with the stable id of its check. */
export interface Finding extends Outcome {
  readonly id: CheckId;
}

/** A value that was read, or the permission that the user lacks for it. */
export type ReadResult<T> = { readonly value: T } | { readonly lacks: string };

/** Returns a passed outcome. */
export function ok(why: string, subject?: string): Outcome {
  return { severity: 'ok', why, ...(subject === undefined ? {} : { subject }) };
}

/** Returns a warning: certificates are issued, but a person should look. */
export function warning(why: string, remediation: string, subject?: string): Outcome {
  return { severity: 'warning', why, remediation, ...(subject === undefined ? {} : { subject }) };
}

/** Returns an error: certificates are not issued, or not correctly. */
export function error(why: string, remediation: string, subject?: string): Outcome {
  return { severity: 'error', why, remediation, ...(subject === undefined ? {} : { subject }) };
}

/** Returns the error as final. */
export function finalError(...[why, remediation, subject]: Parameters<typeof error>): Outcome {
  return { ...error(why, remediation, subject), isFinal: true };
}

/** Returns the outcome with its cause, if known. */
export function withCause(outcome: Outcome, causedBy: string | undefined): Outcome {
  return causedBy === undefined ? outcome : { ...outcome, causedBy };
}

/** Returns the name by which other outcomes refer to this one as their cause. */
export function causeOf(id: CheckId, subject: string): string {
  return `${id} ${subject}`;
}

/** Runs `judge` on the value that was read, or reports the missing permission. */
export function whereSeen<T>(
  seen: ReadResult<T>,
  judge: (value: T) => readonly Outcome[],
): readonly Outcome[] {
  if ('value' in seen) return judge(seen.value);
  return [
    {
      severity: 'unseen',
      why: `you may not ${seen.lacks}`,
      remediation: 'run it as a user with this permission, or have the permission granted',
    },
  ];
}

/** Returns the failed outcomes, or one passed outcome if there are none. */
export function allWell(bad: readonly Outcome[], why: string): readonly Outcome[] {
  return bad.length > 0 ? bad : [ok(why)];
}

/**
 * Returns the subject of a sentence about fields that differ: the first, and how many more.
 *
 * @param differences - JSON pointers
 * @returns undefined without a difference
 */
export function differingFields([first, ...rest]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  return `its ${first}${rest.length > 0 ? ` and ${rest.length} more` : ''}`;
}
