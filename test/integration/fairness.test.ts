// SPDX-License-Identifier: Apache-2.0
/**
 * A tenant who asks for as much as it can beside one who asks for little. bench/fairness measures
 * the time.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { decodeLines } from '#kube/watch/line-decoder.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { BUNDLE } from '../support/cluster/countersign.ts';
import { applySigner, example, waitForUsableCa } from '../support/cluster/fixture.ts';
import {
  HOSTILE,
  POD_REQUESTS,
  SHARED_SIGNER,
  VICTIM,
  createPodRequest,
  hostileRequest,
  prepareTenants,
  podNameOf,
  tenantsAreReady,
} from '../support/cluster/hostile-tenant.ts';
import {
  applyManifests,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';
import { stubRequest } from '../support/requests/stub-pkcs10.ts';

const SOON = 120_000;
/** Several times what a process has in flight. */
const HOSTILE_REQUESTS = 1_600;
const VICTIM_REQUESTS = 10;
/**
 * What may be answered before the last of the victim's: what is in flight (32), a turn of the
 * hostile flow for each turn of the victim's, and what was begun before the list came to the
 * victim, whose namespace it names last. In the order of the list all those would be that ask the
 * shared signer, half of them.
 */
const MAX_BEFORE = HOSTILE_REQUESTS / 4;

const program = [process.execPath, BUNDLE];
const args = ['--namespaced-signers'];

let cluster: Cluster;
let client: Client;
const running: Installation[] = [];

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  await applyManifests(cluster);
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  const base = { program };
  running.push(await startComponents(cluster, { ...base, only: ['attester'] }));
  running.push(await startComponents(cluster, { ...base, only: ['authority'], args }));
  await applySigner(cluster, example('workload'));
  await prepareTenants(cluster);
  await waitForUsableCa(cluster, 'workload');
  await tenantsAreReady(cluster);
});

after(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await client.close();
  await cluster.stop();
});

test('a quiet tenant’s request precedes a loud one’s backlog; all Events are written', async () => {
  const stub = stubRequest();
  const workers = Array.from({ length: 16 }, async (_, worker) => {
    for (let index = worker; index < HOSTILE_REQUESTS; index += 16) {
      await createPodRequest(client, hostileRequest(index, stub));
    }
  });
  await Promise.all(workers);
  for (let index = 0; index < VICTIM_REQUESTS; index++) {
    const wanted = {
      namespace: VICTIM,
      name: `victim-${index}`,
      signerName: SHARED_SIGNER,
    };
    await createPodRequest(client, { ...wanted, stub, isRefused: index % 2 === 1 });
  }
  const { metadata } = await client.request<{ metadata: { resourceVersion: string } }>({
    method: 'GET',
    path: POD_REQUESTS.collection(VICTIM),
  });
  const end = new AbortController();
  const answered = answers(metadata.resourceVersion, end.signal);
  running.push(await startComponents(cluster, { program, only: ['pcr-issuer'], args }));
  const order = await answered;
  end.abort();
  const hostileBefore = order.filter((namespace) => namespace === HOSTILE).length;
  assert.ok(
    hostileBefore <= MAX_BEFORE,
    `${hostileBefore} of the hostile tenant were answered before`,
  );
  assert.equal(order.length - hostileBefore, VICTIM_REQUESTS);
  assert.deepEqual(
    await victimEvents(),
    namesOf((index) => index % 2 === 1),
  );
});

/**
 * The namespaces of the answered requests, in the order of the answers, until the last of the
 * victim's.
 */
async function answers(resourceVersion: string, signal: AbortSignal): Promise<readonly string[]> {
  const chunks = await client.stream({
    method: 'GET',
    path: POD_REQUESTS.collection(),
    query: { watch: true, resourceVersion },
    signal,
  });
  const seen = new Map<string, string>();
  let victims = 0;
  for await (const line of decodeLines(chunks)) {
    const { object } = JSON.parse(line) as {
      readonly object: {
        readonly metadata: { readonly namespace: string; readonly name: string };
        readonly status?: { readonly conditions?: readonly unknown[] };
      };
    };
    const { namespace, name } = object.metadata;
    if ((object.status?.conditions ?? []).length === 0 || seen.has(name)) continue;
    seen.set(name, namespace);
    if (namespace === VICTIM) victims++;
    if (victims === VICTIM_REQUESTS) break;
  }
  return [...seen.values()];
}

/**
 * The pods of the victim whose requests were refused and that an Event was written about, once
 * there are as many as there must be.
 */
function victimEvents(): Promise<readonly string[]> {
  return until('all Events of the victim', SOON, async () => {
    const { items } = await client.request<{
      readonly items: readonly { readonly regarding: { readonly name: string } }[];
    }>({ method: 'GET', path: `/apis/events.k8s.io/v1/namespaces/${VICTIM}/events` });
    const names = [...new Set(items.map(({ regarding }) => regarding.name))].sort();
    return names.length < VICTIM_REQUESTS / 2 ? undefined : names;
  });
}

function namesOf(isWanted: (index: number) => boolean): readonly string[] {
  return Array.from({ length: VICTIM_REQUESTS }, (_, index) => index)
    .filter(isWanted)
    .map((index) => podNameOf(`victim-${index}`))
    .sort();
}
