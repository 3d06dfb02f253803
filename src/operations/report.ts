// SPDX-License-Identifier: Apache-2.0
import { quantity } from '#base/quantity.ts';
import { printable } from '#base/quote.ts';
import { unresolvedErrors, type Change, type ChangePlan } from './change-plan.ts';
import type { PodScan } from './pods/find-pods.ts';
import { nameOf, type EvictionSummary } from './pods/evict-pods.ts';

/** Values of `--output`. */
export const OUTPUTS = ['text', 'json', 'yaml'] as const;

/** Sources of certificates. `auto` is the ledger, as far as there is one, and live objects. */
export const CERTIFICATE_SOURCES = ['auto', 'ledger', 'live'] as const;
export type Output = (typeof OUTPUTS)[number];

/** The verbs that change a ClusterSigner. */
export type Verb = 'prepare' | 'activate' | 'taint' | 'revoke' | 'install';

/** Exit codes for unresolved preflight errors, and for remaining pods. */
export const EXIT_REFUSED = 3;
export const EXIT_PODS_LEFT = 4;

/** The result of a verb, which `-o json` and `-o yaml` print. */
export interface OperationReport {
  readonly verb: Verb;
  readonly clusterSigner: string;
  readonly target?: string;
  readonly outcome: 'changed' | 'unchanged' | 'refused';
  readonly dryRun: boolean;
  readonly change?: Change;
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
  readonly pods?: PodScan;
  readonly restarted?: EvictionSummary;
}

/** Reports a plan as its verb does: refused, unchanged, or changed once `change` is written. */
export function reportPlan(
  plan: ChangePlan,
  given: Pick<OperationReport, 'verb' | 'clusterSigner' | 'dryRun'> & { readonly force: boolean },
): OperationReport {
  const { change, target, preflightErrors } = plan;
  const { force, ...named } = given;
  const report = { ...named, ...(target === undefined ? {} : { target }) };
  const errors = unresolvedErrors(plan, force);
  if (errors.length > 0) {
    const canForce = errors.every(({ fatal }) => fatal !== true);
    const notes = canForce ? ['use --force to override'] : [];
    const refusals = errors.map(({ message }) => message);
    return { ...report, notes, refusals, outcome: 'refused' };
  }
  const overruled = preflightErrors.map(({ message }) => `overridden by --force: ${message}`);
  const done = { ...report, refusals: [], notes: [...overruled, ...plan.notes] };
  if (change === undefined) return { ...done, outcome: 'unchanged' };
  return { ...done, outcome: 'changed', change };
}

/** Formats the result as text: the object, what changed, then errors and notes. */
export function operationText(report: OperationReport): string {
  return lines(operationLines(report));
}

/** Returns the lines of {@link operationText}. */
export function operationLines(report: OperationReport): readonly string[] {
  const { verb, clusterSigner, outcome, dryRun, change, refusals, notes } = report;
  const what = {
    changed: dryRun ? 'would be changed (dry run)' : 'changed',
    unchanged: 'unchanged',
    refused: `not changed: ${verb} is refused`,
  }[outcome];
  return [
    `clustersigner.countersign.dev/${clusterSigner} ${what}`,
    ...(change === undefined ? [] : changeLines(change)),
    ...refusals.map((each) => `  refused: ${each}`),
    ...notes.map((each) => `  ${each}`),
  ];
}

function changeLines({ annotations = {}, distrust = [], upstream }: Change): readonly string[] {
  return [
    ...Object.entries(annotations).map(
      ([name, value]) => `  metadata.annotations["${name}"] = ${value}`,
    ),
    ...distrust.map((each) => `  spec.authority.managed.distrusted += ${each}`),
    ...Object.entries(upstream ?? {}).map(([field, value]) => {
      const shown = field === 'chain' ? 'the chain' : String(value);
      return `  spec.authority.managed.upstream.manual.${field} = ${shown}`;
    }),
  ];
}

/** Formats the affected pods as text. */
export function podsText(signerName: string, { mounts, affected }: PodScan): string {
  const rows = affected.map((pod) =>
    [`  ${nameOf(pod)}`, pod.createdAt, pod.node, pod.remadeBy ?? 'bare'].join('   '),
  );
  const title = podsTitle(signerName, { mounts, affected });
  return lines([affected.length === 0 ? title : `${title}:`, ...rows]);
}

/** Formats the numbers of pods as text. */
export function podsTitle(signerName: string, { mounts, affected }: PodScan): string {
  return `${quantity(mounts, 'running pod')} with ${signerName}; ${affected.length} may hold a leaf of this CA`;
}

/** Formats the result of the evictions as text. */
export function evictionsText({ evicted, gone, left }: EvictionSummary, dryRun: boolean): string {
  return lines([
    `${quantity(evicted.length, 'pod')} ${dryRun ? 'would be evicted (dry run)' : 'evicted'}, ${gone.length} already gone, ${left.length} left`,
    ...left.map(({ pod, why }) => `  left: ${nameOf(pod)}: ${why}`),
  ]);
}

function lines(all: readonly string[]): string {
  return all.map((each) => `${printable(each)}\n`).join('');
}
