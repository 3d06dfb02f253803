// SPDX-License-Identifier: Apache-2.0
import { type CompiledExpression, compileExpression } from '#cel/compile.ts';
import {
  readsPods,
  type AnnotationRule,
  type PodServicesSpec,
  type PodsSpec,
} from '#api/signer/cluster-signer.ts';
import { createBudget, type Budget } from '#cel/cost/budget.ts';
import { podEnvironment } from '#cel/environments.ts';
import { NO_DEADLINE, type Deadline } from '#base/ports.ts';
import { compileValuePattern } from '#cel/pattern/value-pattern.ts';

/** `spec.pods`, compiled: it selects the pods that get a leaf, and its names. */
export interface PodProfile {
  readonly allow: CompiledExpression<boolean>;
  readonly uris: readonly CompiledExpression<string>[];
  readonly dnsNames: readonly CompiledExpression<string>[];
  readonly commonName: CompiledExpression<string>;
  /** Annotation key → whether a value matches. Requests with other keys are denied. */
  readonly annotations: ReadonlyMap<string, (value: string) => boolean>;
  /** The rules for names of Services in the leaf. Undefined: none. */
  readonly services: PodServicesSpec | undefined;
  /** The labels that expressions see. Undefined: none. */
  readonly labels: readonly string[] | undefined;
  readonly ipAddresses: readonly CompiledExpression<string>[];
  /** Whether the issuer must read the pod. */
  readonly readsPod: boolean;
  readonly refreshAfterPercent: number;
  /**
   * Runs work that evaluates several of these at once, under one deadline. See {@link Deadline}.
   */
  readonly together: <T>(work: () => T) => T;
}

/** `beginRefreshAt` at half the lifetime survives an outage of the other half (KEP-4317). */
const DEFAULT_REFRESH_PERCENT = 50;

/**
 * Compiles `spec.pods` of a valid spec.
 *
 * @param deadline - limits its compilation and its runs. Default: no limit.
 * @throws SignerError CEL_INVALID, CEL_COST or SPEC_INVALID (`wait`) with the field
 */
export function compilePodProfile(spec: PodsSpec, deadline: Deadline = NO_DEADLINE): PodProfile {
  const budget = createBudget('spec.pods');
  const { take } = budget;
  const sights = { services: spec.services !== undefined, labels: spec.labels !== undefined };
  const environment = podEnvironment({ ...sights, ip: false });
  const text = (field: string, source: string, where = environment): CompiledExpression<string> =>
    take(
      compileExpression({
        source,
        where: `spec.pods.${field}`,
        environment: where,
        result: 'string',
        deadline,
      }),
    );
  const texts = (
    field: 'uris' | 'dnsNames' | 'ipAddresses',
  ): readonly CompiledExpression<string>[] => {
    const where = field === 'ipAddresses' ? podEnvironment({ ...sights, ip: true }) : environment;
    return Object.freeze(
      (spec[field] ?? []).map((source, index) => text(`${field}[${index}]`, source, where)),
    );
  };
  return Object.freeze({
    allow: take(
      compileExpression({
        source: spec.allow,
        where: 'spec.pods.allow',
        environment,
        result: 'bool',
        deadline,
      }),
    ),
    uris: texts('uris'),
    dnsNames: texts('dnsNames'),
    commonName: text('commonName', spec.commonName ?? "''"),
    annotations: compileAnnotations(spec.annotations ?? [], budget, deadline),
    services: spec.services,
    labels: spec.labels,
    ipAddresses: texts('ipAddresses'),
    readsPod: readsPods({ pods: spec }),
    refreshAfterPercent: spec.refreshAfterPercent ?? DEFAULT_REFRESH_PERCENT,
    together: <T>(work: () => T): T => deadline.together('spec.pods', budget.worstCase(), work),
  });
}

function compileAnnotations(
  rules: readonly AnnotationRule[],
  { annotations }: Budget,
  deadline: Deadline,
): ReadonlyMap<string, (value: string) => boolean> {
  return new Map(
    rules.map((rule, index) => [
      rule.key,
      compileValuePattern(
        rule.pattern,
        `spec.pods.annotations[${index}].pattern`,
        annotations,
        deadline,
      ),
    ]),
  );
}
