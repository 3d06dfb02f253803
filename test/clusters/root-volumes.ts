// SPDX-License-Identifier: Apache-2.0
/** A ledger on a volume of root: its records, and its error without an fsGroup. */
import assert from 'node:assert/strict';
import { EXIT_REFUSED } from '#operations/report.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { IN_SYSTEM, isReady, podsOf } from '../real-pods/shipped.ts';
import { BUNDLE, countersign } from '../support/cluster/countersign.ts';
import { WAYS, createServingSigner, removeForGood, type Installed } from './ways.ts';

const WAIT_MS = 300_000;

const FAULT =
  /the user 65532 .* may not write the directory \S+, which belongs to the user 0 and the group 0 with mode 0755; .*set podSecurityContext\.fsGroup of the ledger/;

/** The group of the image, as docs/how-to/install-with-helm.md has it. */
export const WITH_GROUP = ledgerOf(65_532);
const WITHOUT_GROUP = ledgerOf('none');

function ledgerOf(fsGroup: number | 'none'): Pick<Installed, 'components'> {
  return {
    components: { ledger: { enabled: true, replicas: 1, podSecurityContext: { fsGroup } } },
  };
}

/** Resolves when the ledger answers, so that it records each certificate from now on. */
export async function recordsAnswer(cluster: Cluster): Promise<void> {
  await createServingSigner(cluster);
  await recordsOf(cluster, 0);
}

/** Asserts that a new pod of the ledger has the records of the previous pod. */
export async function keepsRecords(cluster: Cluster): Promise<void> {
  // One certificate of a person, and one of a pod.
  const kept = await recordsOf(cluster, 2);
  const [old] = await podsOf(cluster, 'ledger');
  assert.ok(old);
  await cluster.kubectl(['delete', 'pod', old.metadata.name, ...IN_SYSTEM]);
  await until('a new pod of the ledger is Ready', WAIT_MS, async () => {
    const [pod, ...others] = await podsOf(cluster, 'ledger');
    const isNew = pod !== undefined && pod.metadata.name !== old.metadata.name;
    return isNew && others.length === 0 && isReady(pod);
  });
  const records = await recordsOf(cluster, kept.length);
  assert.deepEqual(
    kept.filter((name) => !records.includes(name)),
    [],
  );
}

/** Resolves with the names of the records of certificates, once there are `least` of them. */
function recordsOf(cluster: Cluster, least: number): Promise<readonly string[]> {
  const all = ['ledger', 'search', '--kind', 'issued', '--limit', '0', '-o', 'name'];
  return until(`the ledger has ${least} records`, WAIT_MS, async () => {
    const args = [...all, '--kubeconfig', cluster.kubeconfig];
    const { code, stdout, stderr } = await countersign(args, undefined, BUNDLE);
    const names = stdout.split('\n').filter((line) => line !== '');
    const answered = code === 0 || code === EXIT_REFUSED;
    if (answered && names.length >= least) return names;
    throw new Error(`${names.length} records: ${stderr}`);
  });
}

/** Resolves when the log of a ledger without a group says which value makes its volume writable. */
export async function saysWhatToSet(cluster: Cluster): Promise<void> {
  const { install, uninstall } = WAYS['helm install'];
  await install(cluster, { ...WITHOUT_GROUP, signers: [{ name: 'example.com/workload' }] });
  await until('the ledger logs that it may not write its volume', WAIT_MS, async () => {
    const args = ['logs', 'deployment/countersign-ledger', ...IN_SYSTEM];
    return FAULT.test((await cluster.kubectl(args)).stdout);
  });
  await uninstall(cluster);
  await removeForGood(cluster);
}
