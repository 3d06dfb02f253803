// SPDX-License-Identifier: Apache-2.0
/** What `countersign check` and `countersign explain` say of a cluster of a fixture. */
import assert from 'node:assert/strict';
import type { CheckReport } from '#diagnose/check/report.ts';
import type { Explanation } from '#diagnose/explain/explanation.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { BUNDLE, countersign, type CommandResult } from './countersign.ts';

const WAIT_MS = 120_000;

/** Runs `countersign check`, as it is shipped. */
export function check(cluster: Cluster, ...args: readonly string[]): Promise<CommandResult> {
  return countersign(['check', '--kubeconfig', cluster.kubeconfig, ...args], undefined, BUNDLE);
}

/** Runs `countersign explain`, as it is shipped. */
export function explain(cluster: Cluster, ...args: readonly string[]): Promise<CommandResult> {
  return countersign(['explain', '--kubeconfig', cluster.kubeconfig, ...args], undefined, BUNDLE);
}

/** A line of `check` that is not well. */
export interface Fault {
  /** `severity id subject why`. */
  readonly line: string;
  /** What it says to do. */
  readonly remediation: string;
}

/** The people's CA is the client CA of the test cluster, which lives for a week. */
const KNOWN = /^warning ca-lifetime clustersigner\/people /;

/** The lines of `check` that are not well, without what is so in every fixture. */
export async function faultsIn(
  cluster: Cluster,
  ...args: readonly string[]
): Promise<readonly Fault[]> {
  const { stdout, stderr } = await check(cluster, '-o', 'json', ...args);
  assert.notEqual(stdout, '', stderr);
  const { checks } = JSON.parse(stdout) as CheckReport;
  return checks
    .filter(({ severity }) => severity !== 'ok')
    .map(({ id, severity, subject, why, remediation = '' }) => ({
      line: `${severity} ${id} ${subject ?? ''} ${why}`,
      remediation,
    }))
    .filter(({ line }) => !KNOWN.test(line));
}

/** Resolves with the fault once `check` shows it. */
export function shows(cluster: Cluster, pattern: RegExp): Promise<Fault> {
  return until(`check shows ${String(pattern)}`, WAIT_MS, async () => {
    const faults = await faultsIn(cluster);
    const found = faults.find(({ line }) => pattern.test(line));
    if (found !== undefined) return found;
    throw new Error(`it shows ${faults.map(({ line }) => line).join('\n') || 'nothing'}`);
  });
}

/** Resolves once `check` shows nothing. */
export function showsNothing(cluster: Cluster): Promise<unknown> {
  return until('check shows nothing', WAIT_MS, async () => {
    const faults = await faultsIn(cluster);
    if (faults.length === 0) return true;
    throw new Error(`it shows ${faults.map(({ line }) => line).join('\n')}`);
  });
}

/** Resolves with the explanation once it has that state, and a summary that matches. */
export function explained(
  cluster: Cluster,
  { state, summary = /(?:)/ }: { readonly state: string; readonly summary?: RegExp },
  ...args: readonly string[]
): Promise<Explanation> {
  return until(`explain ${args.join(' ')} says ${state}`, WAIT_MS, async () => {
    const { stdout, stderr } = await explain(cluster, '-o', 'json', ...args);
    assert.notEqual(stdout, '', stderr);
    const explanation = JSON.parse(stdout) as Explanation;
    if (explanation.state === state && summary.test(explanation.summary)) return explanation;
    throw new Error(`it says ${explanation.state}: ${explanation.summary}`);
  });
}
