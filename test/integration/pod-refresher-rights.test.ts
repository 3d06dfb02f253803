// SPDX-License-Identifier: Apache-2.0
/**
 * Without any rule of its roles pod-refresher is not ready, names each verb that it lacks, and
 * heals.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '#install/render.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { eachRuleIsNeeded, rolesIn } from '../support/cluster/without-rule.ts';
import { install, startRefresher } from './pod-refresher/stand.ts';

let cluster: Cluster;
let component: ComponentProcess;

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  await install(cluster);
  component = await startRefresher(cluster);
  await component.ready();
});

after(async () => {
  await component.stop();
  await cluster.stop();
});

const text = renderRbac({ ...DEMO, optionalComponents: ['pod-refresher'] });
const roles = rolesIn(text.get('pod-refresher.yaml') ?? '');

eachRuleIsNeeded('pod-refresher', roles, () => ({ cluster, component }));

test('its roles are there to be tried', () => {
  assert.deepEqual(
    roles.map(({ kind }) => kind),
    ['ClusterRole', 'Role'],
  );
});
