// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isCaReady } from '#api/serving/report.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import {
  applyManifests,
  grantClientCa,
  startComponents,
  type Installation,
} from './installation.ts';
import { apply } from './apply.ts';

/** A cluster with Countersign at work in it. */
export interface Fixture {
  readonly cluster: Cluster;
  readonly installation: Installation;
  stop(): Promise<void>;
}

const EXAMPLES = join(import.meta.dirname, '../../../deploy/examples');
const READY_MS = 240_000;

/** The version that this run of the tests is for. */
export const VERSION = process.env['COUNTERSIGN_TEST_VERSION'] === '1.36' ? '1.36' : '1.37';

/**
 * A cluster of its own with the shipped manifests, the components, and the demo's two
 * ClusterSigners Ready: a test that stops or breaks something does so for itself only.
 */
export async function startFixture(
  options: Parameters<typeof startComponents>[1] = {},
): Promise<Fixture> {
  const cluster = await startCluster({ version: VERSION });
  let installation: Installation | undefined;
  const stop = async (): Promise<void> => {
    await installation?.stop();
    await cluster.stop();
  };
  try {
    await applyManifests(cluster);
    installation = await startComponents(cluster, options);
    await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
    for (const name of ['workload', 'people']) await applySigner(cluster, example(name));
    // With some of the components only, none may serve a signer whose CA is usable.
    const wait = options.only === undefined ? waitForChecked : waitForUsableCa;
    for (const name of ['workload', 'people']) await wait(cluster, name);
    await Promise.all(Object.values(installation.components).map((each) => each.ready(READY_MS)));
    return { cluster, installation, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** deploy/examples/<name>.yaml, to be changed by tests. */
export function example(name: string): { metadata: { name: string }; spec: ClusterSigner['spec'] } {
  return parse(readFileSync(join(EXAMPLES, `${name}.yaml`), 'utf8')) as ReturnType<typeof example>;
}

export async function applySigner(cluster: Cluster, signer: object): Promise<void> {
  await apply(cluster, signer);
}

export async function getSigner(cluster: Cluster, name: string): Promise<ClusterSigner> {
  const { stdout } = await cluster.kubectl(['get', 'clustersigner', name, '-o', 'json']);
  return JSON.parse(stdout) as ClusterSigner;
}

function waitForChecked(cluster: Cluster, name: string): Promise<unknown> {
  return waitForReady(cluster, name, 'Checked');
}

/**
 * Its CA is usable in the present generation, whether or not all components run that the signer
 * needs.
 */
export function waitForUsableCa(cluster: Cluster, name: string): Promise<unknown> {
  return until(`the CA of ${name} is usable`, READY_MS, async () => {
    const { metadata, status } = await getSigner(cluster, name);
    return status?.observedGeneration === metadata.generation && isCaReady(status?.conditions);
  });
}

/** Ready once it has `reason` for the present generation. */
export function waitForReady(cluster: Cluster, name: string, reason: string): Promise<Condition> {
  return waitForSignerCondition(cluster, name, { type: 'Ready', reason });
}

/** A condition once it has `reason` for the present generation. */
export function waitForSignerCondition(
  cluster: Cluster,
  name: string,
  { type, reason }: { readonly type: string; readonly reason: string },
): Promise<Condition> {
  return until(`ClusterSigner ${name} ${type} is ${reason}`, READY_MS, async () => {
    const { metadata, status } = await getSigner(cluster, name);
    const found = findCondition(status?.conditions, type);
    const current = status?.observedGeneration === metadata.generation;
    if (current && found?.reason === reason) return found;
    throw new Error(`it is ${found?.reason ?? 'without status'}: ${found?.message ?? ''}`);
  });
}
