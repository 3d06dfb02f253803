// SPDX-License-Identifier: Apache-2.0
import { Component, type ComponentSpec } from './component.ts';
import { waitForDefaultServiceAccount, waitForNodes } from './ready.ts';
import type { ClusterState } from './state.ts';

/**
 * Starts the components in the order in which they need each other. Each is put into `started`
 * before it is started, so that a caller can end them all whatever happens here.
 */
export async function startComponents(
  state: ClusterState,
  started: Component[],
  log: (line: string) => void,
): Promise<void> {
  const { components, directory } = state;
  if (components === undefined) return;
  const start = async (spec: ComponentSpec): Promise<void> => {
    const component = new Component(spec, directory);
    started.push(component);
    log(`starting ${spec.name}`);
    await component.start();
  };
  const { etcd, apiServer, controllerManager, scheduler, nodes, podHost } = components;
  if (podHost !== undefined) await start(podHost);
  await start(etcd);
  await start(apiServer);
  await settleAll([controllerManager, scheduler, ...nodes].map(start));
  await settleAll([waitForNodes(state, nodes.length), waitForDefaultServiceAccount(state)]);
  const dead = started.find((component) => component.pid === undefined);
  if (dead !== undefined) throw new Error(`${dead.name} ended: ${dead.logTail()}`);
}

/** Like Promise.all, but nothing is under way any more when it rejects. */
async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(promises);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
