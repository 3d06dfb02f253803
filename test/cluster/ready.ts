// SPDX-License-Identifier: Apache-2.0
import { get } from './probe.ts';
import type { ClusterState } from './state.ts';
import { until } from './until.ts';

const readyMilliseconds = 60_000;

interface NodeList {
  readonly items: readonly {
    readonly status: {
      readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    };
  }[];
}

/** Resolves when so many nodes are Ready. */
export async function waitForNodes(state: ClusterState, count: number): Promise<void> {
  await until(`${count} nodes are Ready`, readyMilliseconds, async () => {
    const nodes = (await read(state, '/api/v1/nodes')) as NodeList | undefined;
    const ready = nodes?.items.filter((node) =>
      node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    return ready !== undefined && ready.length >= count;
  });
}

/** Without it no pod can be created; kube-controller-manager makes it. */
export async function waitForDefaultServiceAccount(state: ClusterState): Promise<void> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  await until('the ServiceAccount default/default exists', readyMilliseconds, () =>
    read(state, path),
  );
}

async function read(state: ClusterState, path: string): Promise<unknown> {
  const { status, body } = await get(`${state.server}${path}`, state.directory);
  return status === 200 ? JSON.parse(body) : undefined;
}
