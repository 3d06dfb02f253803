// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '#kube/lease/lease.ts';
import { resource } from '#kube/resource/resource.ts';
import { leaseLabels } from '#component/leases.ts';
import { KEYS_NAMESPACE, SYSTEM_NAMESPACE } from '../../test/support/cluster/installation.ts';
import { until } from '../../test/cluster/until.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import type { Program } from '../cluster/contender.ts';
import type { BenchCluster } from '../cluster/start.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';

const LEASES = resource({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases' });
const START_MS = 60_000;
/** The others hear of a new Lease by a watch; a busy machine takes its time. */
const HEARD_MS = 3_000;

/** A replica that shares the requests, and the name by which the others know it. */
export interface Member {
  readonly process: ContenderProcess;
  readonly lease: string;
}

/**
 * Starts one replica of our pcr-issuer; resolves when it shares the requests with those before it.
 */
export async function startMember(
  { cluster, client }: BenchCluster,
  program: Program,
): Promise<Member> {
  const before = new Set(await leaseNames());
  const process = await startContender(program, cluster.directory);
  let lease: string | undefined;
  await until(`${program.name} has a Lease`, START_MS, async () => {
    lease = (await leaseNames()).find((name) => !before.has(name));
    return lease !== undefined;
  });
  await delay(HEARD_MS);
  return { process, lease: lease ?? '' };

  async function leaseNames(): Promise<readonly string[]> {
    const labels = Object.entries(leaseLabels('pcr-issuer', KEYS_NAMESPACE));
    const { items } = await client.request<{ readonly items: readonly Lease[] }>({
      method: 'GET',
      path: LEASES.collection(SYSTEM_NAMESPACE),
      query: { labelSelector: labels.map(([name, value]) => `${name}=${value}`).join(',') },
    });
    return items.map(({ metadata }) => metadata.name);
  }
}

/**
 * Takes a killed replica's Lease away: one that starts later would take it for a living one's, for
 * its duration.
 */
export async function removeLease({ client }: BenchCluster, name: string): Promise<void> {
  const path = LEASES.object({ namespace: SYSTEM_NAMESPACE, name });
  await client.request({ method: 'DELETE', path }).catch(ignoreNotFound);
}
