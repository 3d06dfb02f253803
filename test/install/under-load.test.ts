// SPDX-License-Identifier: Apache-2.0
/** The chart is upgraded and rolled back while requests come at a steady rate; its pods really run. */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { podsOf } from '../real-pods/shipped.ts';
import { SKIP } from '../real-pods/stand.ts';
import { SteadyLoad } from '../real-pods/steady-load.ts';
import { applySigner, example } from '../support/cluster/fixture.ts';
import { grantClientCa } from '../support/cluster/installation.ts';
import { CHART } from './helm.ts';
import { NEXT_TAG, RELEASE, startStand, type Stand } from './stand.ts';

const VALUES = {
  signers: [{ name: 'example.com/workload' }, { name: 'example.com/people', bundle: '' }],
};
const WAIT = ['--wait', '--timeout=3m'];
const PER_SECOND = 5;

describe('the chart under a steady load', { skip: SKIP }, () => {
  let stand: Stand;
  let load: SteadyLoad;
  before(async () => {
    stand = await startStand();
    const { cluster } = stand;
    await stand.helm(['install', RELEASE, CHART, ...WAIT], VALUES);
    await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
    for (const name of ['people', 'workload']) await applySigner(cluster, example(name));
    const ready = ['wait', '--for=condition=Ready', '--timeout=50s', 'clustersigners', '--all'];
    await cluster.kubectl(ready);
    load = await SteadyLoad.start(cluster, PER_SECOND);
  });
  after(async () => {
    await load.stop();
    await stand.close();
  });

  /** The tags of the pods that are not about to end. */
  async function tagsInUse(): Promise<ReadonlySet<string>> {
    const pods = await podsOf(stand.cluster);
    const images = pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap(({ spec }) => spec.containers.map(({ image }) => image));
    return new Set(images.map((image) => image.slice(image.lastIndexOf(':') + 1)));
  }

  /** Nothing of what was asked for while `change` went on is lost or refused. */
  async function losesNothing(t: TestContext, change: () => Promise<unknown>): Promise<void> {
    const from = Date.now();
    const tags = await tagsInUse();
    await change();
    for (const tag of await tagsInUse()) assert.ok(!tags.has(tag), `no pod still has ${tag}`);
    const { requests, lost, refused, longestWaitMs } = await load.tally(from);
    t.diagnostic(`${requests} requests, the longest waited ${longestWaitMs / 1000} s`);
    assert.ok(requests > 0);
    assert.deepEqual({ lost, refused }, { lost: [], refused: [] });
  }

  test('an upgrade to another image loses and refuses no request', (t) => {
    const values = { ...VALUES, image: { tag: NEXT_TAG } };
    return losesNothing(t, () => stand.helm(['upgrade', RELEASE, CHART, ...WAIT], values));
  });

  test('its rollback loses and refuses no request', (t) =>
    losesNothing(t, () => stand.helm(['rollback', RELEASE, '1', ...WAIT])));
});
