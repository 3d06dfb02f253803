// SPDX-License-Identifier: Apache-2.0
import { Document, visit } from 'yaml';
import { printable, printableJson } from '../quote.ts';
import type { Change } from './change-plan.ts';
import type { FoundPods } from './pods/find-pods.ts';
import { nameOf, type EvictionSummary } from './pods/evict-pods.ts';

/** Values of `--output`. */
export const OUTPUTS = ['text', 'json', 'yaml'] as const;

/** Where certificates are looked up; `auto`: in the ledger, as far as there is one, and in live objects. */
export const CERTIFICATE_SOURCES = ['auto', 'ledger', 'live'] as const;
export type Output = (typeof OUTPUTS)[number];

/** The verbs that change a ClusterSigner. */
export type Verb = 'prepare' | 'activate' | 'taint' | 'revoke';

/** Exit codes: preflight errors stand, or pods remain. */
export const EXIT_REFUSED = 3;
export const EXIT_PODS_LEFT = 4;

/** The result of a verb: what `-o json` and `-o yaml` print. */
export interface OperationReport {
  readonly verb: Verb;
  readonly clusterSigner: string;
  readonly target?: string;
  readonly outcome: 'changed' | 'unchanged' | 'refused';
  readonly dryRun: boolean;
  readonly change?: Change;
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
  readonly pods?: FoundPods;
  readonly restarted?: EvictionSummary;
}

/** A result for programs, as JSON or YAML. */
export function structuredText(value: unknown, output: Exclude<Output, 'text'>): string {
  if (output === 'json') return printableJson(`${JSON.stringify(value, undefined, 2)}\n`);
  const document = new Document(value);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && printable(node.value) !== node.value) {
        node.type = 'QUOTE_DOUBLE';
      }
    },
  });
  return printableJson(document.toString());
}

/** The result for people: the object, what changed, then errors and notes. */
export function operationText(report: OperationReport): string {
  const { verb, clusterSigner, outcome, dryRun, change, refusals, notes } = report;
  const what = {
    changed: dryRun ? 'would be changed (dry run)' : 'changed',
    unchanged: 'unchanged',
    refused: `not changed: ${verb} is refused`,
  }[outcome];
  return lines([
    `clustersigner.countersign.dev/${clusterSigner} ${what}`,
    ...(change === undefined ? [] : changeLines(change)),
    ...refusals.map((each) => `  refused: ${each}`),
    ...notes.map((each) => `  ${each}`),
  ]);
}

function changeLines({ annotations = {}, distrust = [] }: Change): readonly string[] {
  return [
    ...Object.entries(annotations).map(
      ([name, value]) => `  metadata.annotations["${name}"] = ${value}`,
    ),
    ...distrust.map((each) => `  spec.authority.managed.distrusted += ${each}`),
  ];
}

/** The affected pods, for people. */
export function podsText(signerName: string, { mounting, holding }: FoundPods): string {
  const rows = holding.map((pod) =>
    [`  ${nameOf(pod)}`, pod.createdAt, pod.node, pod.remadeBy ?? 'bare'].join('   '),
  );
  const title = `${mounting} running pods mount ${signerName}; ${holding.length} may hold a leaf of this CA`;
  return lines([holding.length === 0 ? title : `${title}:`, ...rows]);
}

/** The result of the evictions, for people. */
export function evictionsText({ evicted, gone, left }: EvictionSummary, dryRun: boolean): string {
  return lines([
    `${evicted.length} pods ${dryRun ? 'would be evicted (dry run)' : 'evicted'}, ${gone.length} already gone, ${left.length} left`,
    ...left.map(({ pod, why }) => `  left: ${nameOf(pod)}: ${why}`),
  ]);
}

function lines(all: readonly string[]): string {
  return all.map((each) => `${printable(each)}\n`).join('');
}
