// SPDX-License-Identifier: Apache-2.0
/** What is shipped, installed by the operator, which is a pod itself. */
import { join } from 'node:path';
import type { Countersign } from '#api/operator/countersign.ts';
import { operatorManifests } from '#install/operator/installed.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { EXAMPLE, RELEASE } from '../operator/stand.ts';
import { apply } from '../support/cluster/apply.ts';

const ROOT = join(import.meta.dirname, '../..');
/** A rollout of everything, on a machine that does other things as well. */
const INSTALLED_MS = 300_000;

/** As docs/how-to/operator.md says it: the definition, the operator, the object. */
export async function installByOperator(cluster: Cluster): Promise<void> {
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds/operator')]);
  await established(cluster, 'crd/countersigns.operator.countersign.dev');
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/operator/operator.yaml')]);
  await bringTo(cluster, {});
}

/** Applies the operator's roles for the example with these fields, as an administrator. */
export async function grantOperator(
  cluster: Cluster,
  more: Partial<Countersign['spec']>,
): Promise<void> {
  const manifests = operatorManifests({ ...EXAMPLE.spec, ...more }, RELEASE);
  await apply(cluster, ...manifests.filter(({ kind }) => kind !== 'Deployment'));
}

/**
 * Applies the example with these fields, and resolves when all of it is installed.
 *
 * @param more - fields of the spec
 */
export async function bringTo(cluster: Cluster, more: Partial<Countersign['spec']>): Promise<void> {
  const spec = { ...EXAMPLE.spec, ...more };
  await apply(cluster, { ...EXAMPLE, spec });
  await until(`the operator has installed ${spec.version}`, INSTALLED_MS, async () => {
    const args = ['get', 'countersigns', 'cluster', '-o', 'json'];
    const { metadata, status } = JSON.parse((await cluster.kubectl(args)).stdout) as Countersign;
    const is = (type: string): string | undefined => {
      const found = status?.conditions?.find((each) => each.type === type);
      return found?.observedGeneration === metadata.generation ? found?.status : undefined;
    };
    const isThere = is('Available') === 'True' && is('Progressing') === 'False';
    if (isThere && is('Degraded') === 'False' && status?.version === spec.version) return true;
    throw new Error(JSON.stringify(status?.conditions ?? 'no status'));
  });
}
