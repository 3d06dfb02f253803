// SPDX-License-Identifier: Apache-2.0
/**
 * Two replicas of acme as processes, each with its own rights: one is killed in the middle of an
 * Order, the other ends it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readOrder, type Order } from '#api/acme/order.ts';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../../cluster/directory.ts';
import { until } from '../../cluster/until.ts';
import { installAcme } from '../../support/acme/installation.ts';
import { accountSecret, acmeClusterSigner, waitForAcmeSigner } from '../../support/acme/signer.ts';
import { apply } from '../../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { componentKubeconfig } from '../../support/cluster/installation.ts';
import { startFaultProxy, type FaultProxy } from '../fault-proxy.ts';
import { startPebble, type Pebble } from '../pebble.ts';
import { createOrder } from './create-order.ts';

const SOON = 120_000;

let cluster: Cluster;
let pebble: Pebble;
let proxy: FaultProxy;
const replicas: ComponentProcess[] = [];
const directory = makeDirectory();
/** Endpoints that are ill. */
let ill: readonly string[] = [];
/** Endpoints of calls that the server did not refuse. */
const done: string[] = [];

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  // Whether names are proved is tested elsewhere.
  pebble = await startPebble(directory, { env: { PEBBLE_VA_ALWAYS_VALID: '1' } });
  const endpointOf = (path: string): string => path.split('/')[1] ?? '';
  proxy = await startFaultProxy(
    pebble,
    (path) => (ill.includes(endpointOf(path)) ? '500' : undefined),
    (path, _userAgent, status) => {
      if (status < 300) done.push(endpointOf(path));
    },
  );
  await installAcme(cluster, { components: ['acme'], policies: false });
  const solvers = [{ name: 'http', selfCheck: { waitInstead: '0s' }, http01: {} }];
  await apply(cluster, await accountSecret(), acmeClusterSigner({ server: proxy, solvers }));
});

after(async () => {
  await Promise.all(replicas.map((each) => each.kill()));
  await proxy.stop();
  await pebble.stop();
  await cluster.stop();
  removeDirectory(directory);
});

async function startReplica(): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(cluster, 'acme');
  const replica = await startComponent({ name: 'acme', kubeconfig });
  replicas.push(replica);
  return replica;
}

function newOrder(name: string): Promise<void> {
  const names = ['a', 'b'].map((label) => `${label}.${name}.example`);
  return createOrder(cluster, directory, { name, names });
}

async function orderOf(name: string): Promise<Order> {
  const found = await cluster.kubectl(['get', 'orders.acme.countersign.dev', name, '-o', 'json']);
  return readOrder(JSON.parse(found.stdout) as Order);
}

/**
 * The Order waits for an endpoint that is ill, its leader is killed, and the endpoint is well
 * again.
 */
async function failsOver(name: string, endpoint: string): Promise<void> {
  done.length = 0;
  ill = [endpoint];
  const faults = proxy.faults.length;
  const [leader] = replicas;
  assert.ok(leader);
  await newOrder(name);
  await until(`${endpoint} was called`, SOON, () => proxy.faults.length > faults);
  assert.ok((await orderOf(name)).status.url);
  await leader.kill();
  replicas.shift();
  ill = [];
  await until(`${name} is issued by the other`, SOON, async () => {
    const { certificate } = (await orderOf(name)).status;
    return certificate !== undefined;
  });
  const count = (of: string): number => done.filter((each) => each === of).length;
  assert.deepEqual([count('order-plz'), count('finalize-order')], [1, 1]);
}

test('the other replica ends the Order of a killed one with one order at the CA', async () => {
  await startReplica();
  // The first leads.
  await waitForAcmeSigner(cluster);
  await (await startReplica()).ready();
  await failsOver('proving', 'chalZ');
  await (await startReplica()).ready();
  await failsOver('finalizing', 'finalize-order');
});
