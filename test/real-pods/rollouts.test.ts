// SPDX-License-Identifier: Apache-2.0
/** Requests at a steady rate while each component is rolled, drained and killed in turn. */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import {
  IN_SYSTEM,
  componentOf,
  createSigners,
  installShipped,
  isReady,
  podsOf,
  rolledOut,
} from './shipped.ts';
import { SKIP, openStand, type Stand } from './stand.ts';
import { SteadyLoad } from './steady-load.ts';

const PER_SECOND = 5;
/** Between two looks at who is Ready. */
const LOOK_MS = 500;

describe('under a steady load', { skip: SKIP }, () => {
  let stand: Stand;
  let cluster: Cluster;
  let load: SteadyLoad;
  before(async () => {
    stand = await openStand();
    cluster = stand.cluster;
    await installShipped(cluster);
    await createSigners(cluster);
    load = await SteadyLoad.start(cluster, PER_SECOND);
  });
  after(async () => {
    await load.stop();
    await stand.remove();
  });

  /** No request of while `change` went on is lost or refused; the longest wait is told. */
  async function losesNothing(
    t: TestContext,
    what: string,
    change: () => Promise<void>,
  ): Promise<void> {
    const from = Date.now();
    await change();
    const { requests, lost, refused, longestWaitMs } = await load.tally(from);
    t.diagnostic(`${what}: ${requests} requests, the longest waited ${longestWaitMs / 1000} s`);
    assert.ok(requests > 0);
    assert.deepEqual({ lost, refused }, { lost: [], refused: [] });
  }

  for (const component of EVERY_COMPONENT)
    test(`${component} is rolled: no request is lost or refused`, (t) =>
      losesNothing(t, component, async () => {
        const deployment = `deployment/countersign-${component}`;
        await cluster.kubectl(['rollout', 'restart', ...IN_SYSTEM, deployment]);
        await cluster.kubectl(['rollout', 'status', ...IN_SYSTEM, '--timeout=120s', deployment]);
      }));

  test('draining the node of both replicas keeps one Ready and loses no request', (t) =>
    losesNothing(t, 'drain', async () => {
      await cluster.kubectl(['cordon', 'node-2']);
      const first = (await podsOf(cluster)).map(({ metadata }) => metadata.name);
      await cluster.kubectl(['rollout', 'restart', ...IN_SYSTEM, 'deployment']);
      await until('all are on the first node', 180_000, async () => {
        const pods = await podsOf(cluster);
        return (
          pods.length === 2 * EVERY_COMPONENT.length &&
          pods.every((pod) => isReady(pod) && !first.includes(pod.metadata.name))
        );
      });
      await cluster.kubectl(['uncordon', 'node-2']);
      const watched = new AbortController();
      const without = untilAborted(watched.signal);
      const { stderr } = await cluster.kubectl([
        'drain',
        'node-1',
        '--ignore-daemonsets',
        '--timeout=200s',
      ]);
      watched.abort();
      assert.deepEqual(await without, []);
      assert.match(stderr, /would violate the pod's disruption budget/);
      await cluster.kubectl(['uncordon', 'node-1']);
      await rolledOut(cluster);
    }));

  for (const component of EVERY_COMPONENT)
    test(`killing each replica of ${component} in turn loses and refuses no request`, (t) =>
      losesNothing(t, component, async () => {
        for (const { metadata } of await podsOf(cluster, component)) {
          await cluster.podHost.kill(SYSTEM_NAMESPACE, metadata.name);
          await until(`${metadata.name} is Ready again`, 120_000, async () => {
            const pods = await podsOf(cluster, component);
            const killed = pods.find((pod) => pod.metadata.name === metadata.name);
            const restarts = killed?.status.containerStatuses?.[0]?.restartCount ?? 0;
            return killed !== undefined && restarts > 0 && isReady(killed);
          });
        }
      }));

  /** Components that had no Ready replica when they were looked at. */
  async function untilAborted(signal: AbortSignal): Promise<readonly string[]> {
    const without = new Set<string>();
    while (!signal.aborted) {
      const ready = new Set((await podsOf(cluster)).filter(isReady).map(componentOf));
      for (const name of EVERY_COMPONENT) if (!ready.has(name)) without.add(name);
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    return [...without];
  }
});
