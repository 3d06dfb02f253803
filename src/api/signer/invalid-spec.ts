// SPDX-License-Identifier: Apache-2.0
import type { z } from 'zod';
import { SignerError } from '../../errors.ts';
import type { SpecProblem } from './cluster-signer-checks.ts';
import { conditionMessage } from '../request/conditions.ts';
import type { KubeObject } from '../object/object.ts';

/** A message names so many faults; whoever has more mends these first. */
const MAX_REPORTED_PROBLEMS = 10;
/** One fault quotes what a user wrote, which may be long. */
const MAX_PROBLEM_BYTES = 300;

/**
 * SPEC_INVALID (`wait`) for a spec that is not of its kind's shape.
 *
 * @param word - what kubectl explain calls the kind
 */
export function invalidShape(object: KubeObject, error: z.ZodError, word: string): SignerError {
  return invalidSpec(
    object,
    error.issues.map((issue) => shapeProblem(issue, word)),
  );
}

function shapeProblem(issue: z.core.$ZodIssue, word: string): SpecProblem {
  const path = issue.path.map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
  );
  const field = issue.path.filter((part) => typeof part === 'string').join('.');
  const advice =
    issue.code === 'custom' ? '' : `; kubectl explain ${explained(word, field)} describes it`;
  return { path: `spec${path.join('')}`, message: `${issue.message}${advice}` };
}

function explained(word: string, field: string): string {
  return field === '' ? `${word}.spec` : `${word}.spec.${field}`;
}

/** The same of a message about its fields: each at fault is named, with what to do. */
export function invalidSpec(object: KubeObject, faults: readonly SpecProblem[]): SignerError {
  const named = faults
    .slice(0, MAX_REPORTED_PROBLEMS)
    .map(({ path, message }) => conditionMessage(`${path}: ${message}`, MAX_PROBLEM_BYTES));
  const more =
    faults.length > MAX_REPORTED_PROBLEMS
      ? `, and ${faults.length - MAX_REPORTED_PROBLEMS} more`
      : '';
  return new SignerError({
    code: 'SPEC_INVALID',
    disposition: 'wait',
    message: `${object.kind} "${object.metadata.name}": ${named.join(', ')}${more}`,
    cause: faults[0]?.cause,
  });
}
