// SPDX-License-Identifier: Apache-2.0
import type { AnnotationRule, PodsSpec } from '../api/signer/cluster-signer.ts';
import { createAccount } from '../cel/account.ts';
import { compileExpression, type Compiled } from '../cel/compile.ts';
import { POD } from '../cel/environments.ts';
import { compilePattern } from '../cel/pattern.ts';
import type { Patterns } from '../cel/patterns-work.ts';

/** `spec.pods`, compiled: who gets a leaf, and what it says. */
export interface PodProfile {
  readonly allow: Compiled<boolean>;
  readonly uris: readonly Compiled<string>[];
  readonly dnsNames: readonly Compiled<string>[];
  readonly commonName: Compiled<string>;
  /** Annotation key → whole-value test. Keys that are not here are refused. */
  readonly annotations: ReadonlyMap<string, (value: string) => boolean>;
  readonly refreshAfterPercent: number;
}

/** `beginRefreshAt` at half the lifetime survives an outage of the other half (KEP-4317). */
const DEFAULT_REFRESH_PERCENT = 50;

export function compilePods(spec: PodsSpec): PodProfile {
  const take = createAccount('spec.pods');
  const texts = (field: 'uris' | 'dnsNames'): readonly Compiled<string>[] =>
    Object.freeze(
      (spec[field] ?? []).map((source, index) =>
        take(
          compileExpression({
            source,
            where: `spec.pods.${field}[${index}]`,
            environment: POD,
            result: 'string',
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
      }),
    ),
    annotations: compileAnnotations(spec.annotations ?? []),
    refreshAfterPercent: spec.refreshAfterPercent ?? DEFAULT_REFRESH_PERCENT,
  });
}

function compileAnnotations(
  rules: readonly AnnotationRule[],
): ReadonlyMap<string, (value: string) => boolean> {
  const together: Patterns = new Set();
  return new Map(
    rules.map((rule, index) => [
      rule.key,
      compilePattern(rule.pattern, `spec.pods.annotations[${index}].pattern`, together),
    ]),
  );
}
