// SPDX-License-Identifier: Apache-2.0
/**
 * What the operator installs, in pods that run: upgraded under load, and with what restarts
 * workloads.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Cluster } from '../cluster/cluster.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';
import { enableRefresher, evictsInTime, restartsOnce } from './refreshed.ts';
import { askAsPods } from './asking-pods.ts';
import { bringTo, installByOperator } from './operated.ts';
import { COUNTERSIGN, componentOf, createSigners, podsOf } from './shipped.ts';
import { SKIP, openStand, type Stand } from './stand.ts';
import { SteadyLoad } from './steady-load.ts';

const PER_SECOND = 5;
const FIRST = COUNTERSIGN.slice('countersign:'.length);
const NEXT = '0.1.1';
/** Longer than that, what the components say tells more than a figure. */
const UNEXPLAINED_MS = 30_000;

/** What the pods of components warned of, those that ended not included. */
async function warningsOf(cluster: Cluster): Promise<string> {
  const args = ['logs', '-n', 'countersign-system', '-l', 'app.kubernetes.io/name=countersign'];
  const { stdout } = await cluster.kubectl([...args, '--prefix', '--tail=-1'], {
    allowFailure: true,
  });
  const lines = stdout.split('\n').filter((line) => !/"level":"?(?:info|debug|20|30)/.test(line));
  return lines.slice(-60).join('\n');
}

describe('installed by the operator', { skip: SKIP }, () => {
  let stand: Stand;
  let cluster: Cluster;
  before(async () => {
    stand = await openStand({ versions: [NEXT] });
    cluster = stand.cluster;
    await installByOperator(cluster);
    await createSigners(cluster, ['workload', 'people']);
  });
  after(() => stand.remove());

  /** The images of the components' pods, but for those that are on their way out. */
  async function imagesOf(): Promise<readonly string[]> {
    const pods = (await podsOf(cluster)).filter(
      (pod) =>
        pod.metadata.deletionTimestamp === undefined &&
        EVERY_COMPONENT.some((each) => each === componentOf(pod)),
    );
    return [...new Set(pods.flatMap(({ spec }) => spec.containers.map(({ image }) => image)))];
  }

  test('an upgrade to the next version and back loses and refuses no request', async (t) => {
    const load = await SteadyLoad.start(cluster, PER_SECOND);
    const asking = askAsPods(cluster);
    try {
      for (const version of [NEXT, FIRST]) {
        const from = Date.now();
        await bringTo(cluster, { version });
        const seconds = (Date.now() - from) / 1000;
        assert.deepEqual(await imagesOf(), [`countersign:${version}`]);
        const { requests, lost, refused, longestWaitMs, slowest } = await load.tally(from);
        t.diagnostic(
          `to ${version} in ${seconds} s: ${requests} requests, the longest waited ${longestWaitMs / 1000} s: ${slowest}`,
        );
        if (longestWaitMs > UNEXPLAINED_MS) t.diagnostic(await warningsOf(cluster));
        assert.ok(requests > 0);
        assert.deepEqual({ lost, refused }, { lost: [], refused: [] });
      }
      const { pods, longestMs } = await asking.end();
      t.diagnostic(`${pods} pods started meanwhile, the slowest in ${longestMs / 1000} s`);
      assert.ok(pods > 0);
    } finally {
      await asking.end().catch(() => undefined);
      await load.stop();
    }
  });

  test('pod-refresher, enabled in the spec, restarts once; pods get new certificates', async () => {
    await enableRefresher(cluster);
    await restartsOnce(cluster);
  });

  test('a pod with a denied renewal is evicted before expiry if its budget allows', () =>
    evictsInTime(cluster));
});
