// SPDX-License-Identifier: Apache-2.0
import { type Compiled, compileExpression } from '../cel/compile.ts';
import type { PodsSpec, AnnotationRule } from '../api/signer/cluster-signer.ts';
import { createBudget } from '../cel/cost/budget.ts';
import { POD } from '../cel/environments.ts';
import type { PatternSet } from '../cel/pattern/regex.ts';
import type { Deadline } from '../ports.ts';
import { compileValuePattern } from '../cel/pattern/value-pattern.ts';

/** `spec.pods`, compiled: which pods get a leaf, and its names. */
export interface PodProfile {
  readonly allow: Compiled<boolean>;
  readonly uris: readonly Compiled<string>[];
  readonly dnsNames: readonly Compiled<string>[];
  readonly commonName: Compiled<string>;
  /** Annotation key → whether a value matches. Requests with other keys are denied. */
  readonly annotations: ReadonlyMap<string, (value: string) => boolean>;
  readonly refreshAfterPercent: number;
}

/** `beginRefreshAt` at half the lifetime survives an outage of the other half (KEP-4317). */
const DEFAULT_REFRESH_PERCENT = 50;

/**
 * Compiles `spec.pods` of a valid spec.
 *
 * @param deadline - limits its compilation and its runs; default: no limit
 * @throws SignerError CEL_INVALID, CEL_COST or SPEC_INVALID (`wait`), naming the field
 */
export function compilePodProfile(spec: PodsSpec, deadline?: Deadline): PodProfile {
  const take = createBudget('spec.pods');
  const texts = (field: 'uris' | 'dnsNames'): readonly Compiled<string>[] =>
    Object.freeze(
      (spec[field] ?? []).map((source, index) =>
        take(
          compileExpression({
            source,
            where: `spec.pods.${field}[${index}]`,
            environment: POD,
            result: 'string',
            deadline,
          }),
        ),
      ),
    );
  return Object.freeze({
    allow: take(
      compileExpression({
        source: spec.allow,
        where: 'spec.pods.allow',
        environment: POD,
        result: 'bool',
        deadline,
      }),
    ),
    uris: texts('uris'),
    dnsNames: texts('dnsNames'),
    commonName: take(
      compileExpression({
        source: spec.commonName ?? "''",
        where: 'spec.pods.commonName',
        environment: POD,
        result: 'string',
        deadline,
      }),
    ),
    annotations: compileAnnotations(spec.annotations ?? [], deadline),
    refreshAfterPercent: spec.refreshAfterPercent ?? DEFAULT_REFRESH_PERCENT,
  });
}

function compileAnnotations(
  rules: readonly AnnotationRule[],
  deadline: Deadline | undefined,
): ReadonlyMap<string, (value: string) => boolean> {
  const together: PatternSet = new Set();
  return new Map(
    rules.map((rule, index) => [
      rule.key,
      compileValuePattern(
        rule.pattern,
        `spec.pods.annotations[${index}].pattern`,
        together,
        deadline,
      ),
    ]),
  );
}
