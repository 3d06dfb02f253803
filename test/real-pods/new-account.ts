// SPDX-License-Identifier: Apache-2.0
/**
 * A ServiceAccount that is deleted and made again: its pods keep tokens of the one that is gone.
 */
import assert from 'node:assert/strict';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { BUNDLE, countersign } from '../support/cluster/countersign.ts';
import { IN_SYSTEM, podsOf, rolledOut } from './shipped.ts';

/** Two Leases, and the look of `check`. */
const NAMED_MS = 180_000;
const LINE =
  /^ {2}[‼×] components-running: deployment\/countersign-attester: .*\n(?: {6}\d.*\n)?(?: {6}→ .*: (kubectl .*)\n)?/m;

/** @param tell - what the pods do meanwhile */
export async function newAccount(cluster: Cluster, tell: (line: string) => void): Promise<void> {
  const account = ['serviceaccount', 'countersign-attester', ...IN_SYSTEM];
  const check = async (): Promise<string> => {
    const { stdout } = await countersign(
      ['check', '--kubeconfig', cluster.kubeconfig],
      undefined,
      BUNDLE,
    );
    return stdout;
  };
  assert.doesNotMatch(await check(), LINE);
  const object = JSON.parse((await cluster.kubectl(['get', ...account, '-o', 'json'])).stdout) as {
    metadata: Record<string, unknown>;
  };
  const began = Date.now();
  await cluster.kubectl(['delete', ...account]);
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  const input = JSON.stringify({ ...object, metadata });
  await cluster.kubectl(['create', '-f', '-'], { input });
  const command = await until('check names it', NAMED_MS, async () => {
    const text = await check();
    const [, printed] = LINE.exec(text) ?? [];
    if (printed === undefined) throw new Error(text);
    return printed;
  });
  tell(`check names it ${seconds(began)} s after the ServiceAccount was deleted`);
  for (const { metadata: pod, status } of await podsOf(cluster, 'attester')) {
    const ready = status.conditions?.find(({ type }) => type === 'Ready') as { status?: string };
    const restarts = status.containerStatuses?.map(({ restartCount }) => restartCount).join();
    tell(`${pod.name}: Ready ${String(ready.status)}, restarts ${restarts ?? ''}`);
  }
  await cluster.kubectl(command.replace(/^kubectl /, '').split(' '));
  await until('check no longer names it', NAMED_MS, async () => !LINE.test(await check()));
  await rolledOut(cluster);
}

function seconds(began: number): number {
  return Math.round((Date.now() - began) / 1000);
}
