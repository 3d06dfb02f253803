// SPDX-License-Identifier: Apache-2.0
/**
 * The chart is upgraded, narrowed and rolled back while requests come at a steady rate; its pods
 * really run.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { podsOf } from '../real-pods/shipped.ts';
import { SKIP } from '../real-pods/stand.ts';
import { SteadyLoad } from '../real-pods/steady-load.ts';
import { applySigner, example } from '../support/cluster/fixture.ts';
import { grantClientCa } from '../support/cluster/installation.ts';
import { CHART, type Printed } from './helm.ts';
import { NEXT_TAG, RELEASE, startStand, type Stand } from './stand.ts';

const VALUES = {
  signers: [{ name: 'example.com/workload' }, { name: 'example.com/people', bundle: '' }],
};
const WAIT = ['--wait', '--timeout=3m'];
const PER_SECOND = 5;
const LOOK_MS = 200;
/** With it, a component stops every request that comes while its roles do not grant Signers. */
const WIDE = { ...VALUES, namespacedSigners: { enabled: true, secrets: [] } };
const NARROW = { ...VALUES, image: { tag: NEXT_TAG } };
const ROLES = ['countersign-approver', 'countersign-pcr-issuer', 'countersign-signer'];

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
    const tags = await tagsInUse();
    await losesNoRequest(t, change);
    for (const tag of await tagsInUse()) assert.ok(!tags.has(tag), `no pod still has ${tag}`);
  }

  async function losesNoRequest(t: TestContext, change: () => Promise<unknown>): Promise<void> {
    const from = Date.now();
    await change();
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

  /** The components that have pods of the image before, other than those that end. */
  async function withOldPods(): Promise<ReadonlySet<string>> {
    const pods = await podsOf(stand.cluster);
    const old = pods.filter(
      ({ metadata, spec }) =>
        metadata.deletionTimestamp === undefined &&
        spec.containers.some(({ image }) => !image.endsWith(`:${NEXT_TAG}`)),
    );
    return new Set(old.map(({ spec }) => spec.containers[0]?.name ?? ''));
  }

  async function grantsSigners(role: string): Promise<boolean> {
    const found = (await stand.get('clusterrole', role)) as Printed & {
      readonly rules: readonly { readonly resources: readonly string[] }[];
    };
    return found.rules.some(
      ({ resources }) => resources.includes('signers') && resources.includes('clustersigners'),
    );
  }

  async function generations(): Promise<readonly string[]> {
    const deployments = await stand.all('deployments');
    return deployments.map(
      ({ metadata }) => `${metadata.name} ${(metadata as { generation?: number }).generation}`,
    );
  }

  test('an upgrade that narrows takes no right away while a pod has it', async (t) => {
    await stand.helm(['upgrade', RELEASE, CHART, ...WAIT], WIDE);
    const early: string[] = [];
    let looks = 0;
    let said = '';
    await losesNothing(t, async () => {
      const done = new AbortController();
      const upgrade = stand.helm(['upgrade', RELEASE, CHART, ...WAIT], NARROW).finally(() => {
        done.abort();
      });
      while (!done.signal.aborted) {
        // The roles first: a pod that is old now was old when its role was read.
        const grants = await Promise.all(ROLES.map(grantsSigners));
        const old = await withOldPods();
        looks += 1;
        early.push(...ROLES.filter((role, at) => grants[at] === false && old.has(role.slice(12))));
        await delay(LOOK_MS);
      }
      said = (await upgrade).stdout;
    });
    assert.ok(looks > 5, `${looks} looks`);
    assert.deepEqual(early, []);
    for (const role of ROLES) assert.ok(said.includes(`ClusterRole ${role}`), said);

    const before = await generations();
    const command = /^ {2}helm (upgrade .*)$/m.exec(said)?.[1] ?? '';
    const [, ...words] = command.replace('deploy/chart', CHART).split(' ');
    await losesNoRequest(t, () => stand.helm(['upgrade', ...words]));
    assert.deepEqual(await generations(), before, 'no pod changes');
    assert.deepEqual(await Promise.all(ROLES.map(grantsSigners)), [false, false, false]);
  });
});
