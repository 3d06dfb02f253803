// SPDX-License-Identifier: Apache-2.0
import type { AnnotationRule, PodsSpec, SignerSpec } from '../api/signer/cluster-signer.ts';
import { parseDuration } from '../api/object/duration.ts';
import type { KeyType, KeyUsage, RequestField } from '../vocabulary.ts';
import { type Compiled, compileExpression } from '../cel/compile.ts';
import { createBudget } from '../cel/cost/budget.ts';
import { POD } from '../cel/environments.ts';
import { compileValuePattern } from '../cel/pattern/value-pattern.ts';
import type { PatternSet } from '../cel/pattern/regex.ts';

/** What every leaf of a signer is held to; compiled once for each generation, never changed. */
export interface Profile {
  readonly signerName: string;
  readonly keyTypes: readonly KeyType[];
  readonly usages: readonly KeyUsage[];
  readonly maxDurationSeconds: number;
  readonly backdateSeconds: number;
  /** What a leaf takes of an approved CertificateSigningRequest, and nothing else. */
  readonly copy: readonly RequestField[];
  /** Absent: PodCertificateRequests are not served. */
  readonly pods: PodProfile | undefined;
}

/**
 * Compiles `spec.profile`, `spec.pods` and `spec.requests.copy` of a checked spec.
 *
 * @throws SignerError CEL_INVALID, CEL_COST or SPEC_INVALID (`wait`), naming the field, and for CEL
 * the line, the column and the offending name
 */
export function compileProfile(spec: SignerSpec): Profile {
  const { profile } = spec;
  return Object.freeze({
    signerName: spec.signerName,
    keyTypes: Object.freeze([...profile.keyTypes]),
    usages: Object.freeze([...profile.usages]),
    maxDurationSeconds: parseDuration(profile.maxDuration),
    backdateSeconds: parseDuration(profile.backdate),
    copy: Object.freeze([...(spec.requests?.copy ?? [])]),
    pods: spec.pods === undefined ? undefined : compilePods(spec.pods),
  });
}

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
  const together: PatternSet = new Set();
  return new Map(
    rules.map((rule, index) => [
      rule.key,
      compileValuePattern(rule.pattern, `spec.pods.annotations[${index}].pattern`, together),
    ]),
  );
}
