// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import { SYSTEM_NAMESPACE } from './installation.ts';

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image?: string }[] };
  readonly status: { readonly conditions?: readonly { type: string; status: string }[] };
}

/**
 * What a kubelet would write of pods of the installation that run, and what it would do about those
 * that are to end.
 *
 * @param image - the only one that there is to run; default: any
 */
export async function makePodsReady(client: Client, image?: string): Promise<void> {
  const path = `/api/v1/namespaces/${SYSTEM_NAMESPACE}/pods`;
  const { items } = await client.request<{ items: readonly Pod[] }>({ method: 'GET', path });
  const condition = (type: string): object => ({ type, status: 'True' });
  const body = {
    status: {
      phase: 'Running',
      conditions: ['Ready', 'ContainersReady', 'Initialized', 'PodScheduled'].map(condition),
    },
  };
  const isReady = ({ status }: Pod): boolean =>
    status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  const runs = ({ spec }: Pod): boolean =>
    image === undefined || spec.containers.every((each) => each.image === image);
  await Promise.all(
    items.map(async (pod) => {
      const { name, deletionTimestamp } = pod.metadata;
      const one = `${path}/${name}`;
      if (deletionTimestamp !== undefined)
        await client.request({ method: 'DELETE', path: one, body: { gracePeriodSeconds: 0 } });
      else if (!isReady(pod) && runs(pod))
        await client.request({
          method: 'PATCH',
          path: `${one}/status`,
          body,
          contentType: 'application/strategic-merge-patch+json',
        });
    }),
  ).catch(() => undefined);
}
