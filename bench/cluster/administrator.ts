// SPDX-License-Identifier: Apache-2.0
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import type { Cluster } from '../../test/cluster/cluster.ts';

/**
 * A client of the cluster with the administrator's rights, whose requests the API server can tell
 * from a component's.
 */
export async function administratorOf({ kubeconfig }: Cluster): Promise<Client> {
  return createClient({
    connection: await loadConnection({ kubeconfig, clock: Date.now }),
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'countersign-bench',
  });
}
