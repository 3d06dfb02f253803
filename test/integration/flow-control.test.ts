// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { get, type RequestOptions } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { COMPONENTS } from '../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE, applyManifests } from '../support/cluster/installation.ts';

const FILE = join(import.meta.dirname, '../../deploy/flow-control/countersign.yaml');
const PATIENCE_MS = 60_000;
/** The most writes that one component has in flight (src/kube/workqueue/concurrency-limiter.ts). */
const MAX_IN_FLIGHT = 32;

let cluster: Cluster;
let schema: string;
let level: string;
before(async () => {
  cluster = await startCluster({ nodes: 0 });
  await applyManifests(cluster);
  const uidOf = async (kind: string): Promise<string> => {
    const { stdout } = await cluster.kubectl([
      'get',
      kind,
      'countersign',
      '-o',
      'jsonpath={.metadata.uid}',
    ]);
    return stdout;
  };
  schema = await uidOf('flowschema');
  level = await uidOf('prioritylevelconfiguration');
});
after(() => cluster.stop());

/** The API server's answer to a GET by the user of a kubeconfig. */
async function ask(kubeconfig: string, path: string): Promise<IncomingMessage> {
  const connection = await loadConnection({ kubeconfig, clock: () => Date.now() });
  const { tls, authorization } = await connection.credentials();
  const headers = authorization === undefined ? {} : { authorization };
  const options: RequestOptions = { ...tls, headers };
  const [answer] = (await once(get(connection.server + path, options), 'response')) as [
    IncomingMessage,
  ];
  return answer;
}

/** FlowSchema and PriorityLevelConfiguration, by their UIDs. */
async function placeOf(namespace: string, account: string): Promise<readonly unknown[]> {
  const kubeconfig = await cluster.serviceAccountKubeconfig(namespace, account);
  const answer = await ask(kubeconfig, '/apis/countersign.dev/v1alpha1/clustersigners');
  await text(answer);
  const { headers } = answer;
  return [headers['x-kubernetes-pf-flowschema-uid'], headers['x-kubernetes-pf-prioritylevel-uid']];
}

for (const component of COMPONENTS) {
  test(`calls of ${component} have their own priority level in the API server`, async () => {
    await until('the API server has taken it up', PATIENCE_MS, async () => {
      const place = await placeOf(SYSTEM_NAMESPACE, `countersign-${component}`);
      return place[0] === schema && place[1] === level;
    });
  });
}

test('other ServiceAccounts do not get that priority level, in our namespace neither', async () => {
  for (const namespace of ['default', SYSTEM_NAMESPACE]) {
    const place = await placeOf(namespace, 'default');
    assert.ok(place[0] !== undefined && place[0] !== schema);
    assert.notEqual(place[1], level);
  }
});

test('one component uses at most half of the seats of its priority level', async () => {
  const seats = await until('its seats are counted', PATIENCE_MS, async () => {
    const metrics = await text(await ask(cluster.kubeconfig, '/metrics'));
    const line = /apiserver_flowcontrol_nominal_limit_seats\{priority_level="countersign"\} (\d+)/;
    return line.exec(metrics)?.[1];
  });
  assert.ok(Number(seats) >= 2 * MAX_IN_FLIGHT, `${seats} seats`);
});

test('the API server accepts the FlowSchemas without a warning', async () => {
  const { stderr } = await cluster.kubectl(['apply', '-f', FILE]);
  assert.equal(stderr, '');
});
