// SPDX-License-Identifier: Apache-2.0
import type { CheckId } from './catalogue.ts';

/** `unseen`: the user may not read what the check needs, so nothing is known. */
export type Severity = 'ok' | 'warning' | 'error' | 'unseen';

/** What begins the line of a finding. */
export const MARKS: Readonly<Record<Severity, string>> = {
  ok: '√',
  warning: '‼',
  error: '×',
  unseen: '?',
};

/** What a check found about one subject. */
export interface Outcome {
  readonly severity: Severity;
  /** The object that it is about, as kubectl names it: `clustersigner/workload`. Absent: the cluster. */
  readonly subject?: string;
  /** One sentence. */
  readonly why: string;
  /** What to do next; a command where there is one. Absent where all is well. */
  readonly todo?: string;
}

/** An {@link Outcome} with the stable id of its check. */
export interface Finding extends Outcome {
  readonly id: CheckId;
}

/** Something that was read, or the permission that the user lacks for it. */
export type Seen<T> = { readonly value: T } | { readonly lacks: string };

/** All is well. */
export function ok(why: string, subject?: string): Outcome {
  return { severity: 'ok', why, ...(subject === undefined ? {} : { subject }) };
}

/** Certificates are issued, and somebody should look. */
export function warning(why: string, todo: string, subject?: string): Outcome {
  return { severity: 'warning', why, todo, ...(subject === undefined ? {} : { subject }) };
}

/** Certificates are not issued, or not as they should be. */
export function error(why: string, todo: string, subject?: string): Outcome {
  return { severity: 'error', why, todo, ...(subject === undefined ? {} : { subject }) };
}

/** Runs `judge` on what was read, or says which permission is missing. */
export function whereSeen<T>(
  seen: Seen<T>,
  judge: (value: T) => readonly Outcome[],
): readonly Outcome[] {
  if ('value' in seen) return judge(seen.value);
  return [
    {
      severity: 'unseen',
      why: `you may not ${seen.lacks}`,
      todo: 'ask as a user who may, or have the permission granted',
    },
  ];
}

/** The bad outcomes; where there is none, one good one. */
export function allWell(bad: readonly Outcome[], why: string): readonly Outcome[] {
  return bad.length > 0 ? bad : [ok(why)];
}
