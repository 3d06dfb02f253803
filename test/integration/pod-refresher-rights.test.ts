// SPDX-License-Identifier: Apache-2.0
/** Without any rule of its roles pod-refresher is not ready, names each verb that it lacks, and heals. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '../../src/manifests/render.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import type { GrantedVerb } from '../support/cluster/roles.ts';
import { install, startRefresher } from './pod-refresher/stand.ts';

const WAIT_MS = 120_000;

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
const roles = parseAllDocuments(text.get('pod-refresher.yaml') ?? '')
  .map((document) => document.toJS() as GrantedVerb['role'])
  .filter(({ rules }) => rules !== undefined);

for (const role of roles) {
  for (const { verbs, resources } of role.rules ?? []) {
    test(`pod-refresher without ${resources.join()} (${role.kind}) is not ready, names each verb, and heals`, async () => {
      await replace({ ...role, rules: role.rules?.filter((each) => each.resources !== resources) });
      await until('it says what is missing', WAIT_MS, async () => {
        const { status, text: said } = await component.readyz();
        const [resource = ''] = resources;
        const isNamed = (verb: string): boolean =>
          said
            .split('\n')
            .some((line) => line.includes(`lacks: ${verb} `) && line.includes(resource));
        return status === 503 && verbs.every(isNamed);
      });
      await replace(role);
      await component.ready(WAIT_MS);
    });
  }
}

async function replace(role: object): Promise<void> {
  await cluster.kubectl(['replace', '-f', '-'], { input: JSON.stringify(role) });
}

test('its roles are there to be tried', () => {
  assert.deepEqual(
    roles.map(({ kind }) => kind),
    ['ClusterRole', 'Role'],
  );
});
