// SPDX-License-Identifier: Apache-2.0
import type * as z from 'zod';
import { SignerError } from '#base/errors.ts';
import type { SpecProblem } from './cluster-signer-checks.ts';
import { conditionMessage } from '../request/conditions.ts';
import type { KubeObject } from '../object/object.ts';

/** Faults that one message lists. It only counts the rest. */
const MAX_REPORTED_PROBLEMS = 10;
/** Limit of one fault in bytes, because it may quote a long value. */
const MAX_PROBLEM_BYTES = 300;

/**
 * Returns a SPEC_INVALID error (`wait`) for a spec that does not match the schema of its kind.
 *
 * @param word - the kind as `kubectl explain` takes it, such as `clustersigner`
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
  const advice = issue.code === 'custom' ? '' : `; see kubectl explain ${explained(word, field)}`;
  return { path: `spec${path.join('')}`, message: `${issue.message}${advice}` };
}

function explained(word: string, field: string): string {
  return field === '' ? `${word}.spec` : `${word}.spec.${field}`;
}

/** Returns a SPEC_INVALID error (`wait`) that names each invalid field and its fix. */
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
