// SPDX-License-Identifier: Apache-2.0
/**
 * pod-refresher on the real API server, with the controllers that make pods and rollouts.
 * `REFRESH=long` takes 300 workloads in ten namespaces; without it, 30 in three.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import type { Client } from '#kube/client/client.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import {
  administrator,
  APPS,
  install,
  PATIENCE_MS,
  refreshing,
  Stand,
  startRefresher,
  type Kind,
} from './pod-refresher/stand.ts';

const IS_LONG = process.env['REFRESH'] === 'long';
const NAMESPACES = IS_LONG ? 10 : 3;
const IN_EACH = IS_LONG ? 30 : 10;
const SECRETS = 5;
const CONCURRENT = 8;
const IN_NAMESPACE = 2;
const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

let cluster: Cluster;
let client: Client;
let stand: Stand;
let refresher: ComponentProcess;
/** Those whose Secrets change. */
const expected = new Set<string>();

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: IS_LONG ? 4 : 2 });
  client = await administrator(cluster);
  stand = new Stand(client);
  await install(cluster);
  for (let index = 0; index < NAMESPACES; index += 1) await populate(`team-${index}`);
  await stand.untilRolledOut();
  refresher = await startRefresher(cluster);
  await refresher.ready();
});

after(async () => {
  await refresher.stop();
  await client.close();
  await cluster.stop();
});

async function populate(namespace: string): Promise<void> {
  await stand.namespace(namespace);
  for (let secret = 0; secret < SECRETS; secret += 1) {
    await stand.certificate(namespace, `tls-${secret}`);
  }
  for (let index = 0; index < IN_EACH; index += 1) {
    const kind: Kind = index === 1 ? 'DaemonSet' : index % 7 === 2 ? 'StatefulSet' : 'Deployment';
    const isOut = index % 5 === 4;
    // tls-0 is never renewed.
    const secrets = index % 6 === 0 ? ['tls-0'] : [`tls-${1 + (index % 4)}`, 'tls-0'];
    const name = `web-${index}`;
    await stand.workload({ namespace, name, kind, secrets, ...(isOut ? {} : { wish: 'secrets' }) });
    if (!isOut && secrets.length > 1) expected.add(`${kind} ${namespace}/${name}`);
  }
}

/**
 * How often a template was changed: the generation begins with 1, and nobody else changes a spec
 * here.
 */
async function restarts(): Promise<ReadonlyMap<string, number>> {
  const all = await stand.workloads();
  return new Map(
    all.map(({ kind, metadata }) => [
      `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
      (metadata.generation ?? 1) - 1,
    ]),
  );
}

/** Until all that are expected are restarted and complete; limits hold at each look. */
async function untilRefreshed(
  onLook: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await until('every expected workload is restarted', PATIENCE_MS, async () => {
    const running = [...refreshing(await stand.workloads()).values()];
    const total = running.reduce((sum, each) => sum + each, 0);
    assert.ok(Math.max(0, ...running) <= IN_NAMESPACE, 'too many at once in a namespace');
    assert.ok(total <= CONCURRENT, 'too many at once');
    await onLook();
    const counts = await restarts();
    return total === 0 && [...expected].every((key) => counts.get(key) === 1);
  });
}

test('to start it restarts nobody', async () => {
  await until('a pass is done', PATIENCE_MS, async () =>
    /countersign_refresh_workloads\{[^}]*state="current"[^}]*\} \d+/.test(
      await refresher.metrics(),
    ),
  );
  assert.ok([...(await restarts()).values()].every((count) => count === 0));
});

test('Secrets that change together restart each user once, even across a kill', async () => {
  const places = Array.from({ length: NAMESPACES }, (_, index) => `team-${index}`);
  for (const namespace of places) {
    for (let secret = 1; secret < SECRETS; secret += 1) {
      await stand.issue(namespace, `tls-${secret}`, 2);
    }
  }
  let kills = 0;
  await untilRefreshed(async () => {
    const done = [...(await restarts()).values()].filter((count) => count > 0).length;
    if (done < ((kills + 1) * expected.size) / 4 || kills === 3) return;
    kills += 1;
    await refresher.kill();
    refresher = await startRefresher(cluster);
  });
  assert.equal(kills, 3);
  await refresher.ready();
  await stand.untilRolledOut();
  for (const [key, count] of await restarts()) {
    assert.equal(count, expected.has(key) ? 1 : 0, key);
  }
});

test('countersign refresh plan says that everybody is up to date, and who is not', async () => {
  const planText = async (...flags: readonly string[]): Promise<string> => {
    const args = [MAIN, 'refresh', 'plan', '--kubeconfig', cluster.kubeconfig, ...flags];
    return (await promisify(execFile)(process.execPath, args)).stdout;
  };
  const plan = async (
    ...flags: readonly string[]
  ): Promise<readonly { workload: string; when: string; why: string }[]> =>
    JSON.parse(await planText('--output', 'json', ...flags)) as Awaited<ReturnType<typeof plan>>;
  assert.deepEqual(await plan(), []);
  assert.match(
    await planText(),
    /^all \d+ workloads that opted in have their current certificates$/m,
  );
  assert.equal(
    await planText('--namespace', 'default'),
    [
      'no workload in namespace default has opted in, so none is restarted. Both are needed:',
      '  kubectl label namespace default countersign.dev/refresh=enabled',
      '  kubectl annotate deployment NAME --namespace default countersign.dev/refresh=secrets',
      '',
    ].join('\n'),
  );
  const half = { namespace: 'default', name: 'half', secrets: [], wish: 'secrets' };
  await stand.workload(half);
  assert.match(
    await planText('--namespace', 'default'),
    /^Deployment default\/half +never +its namespace did not opt in: kubectl label namespace default /m,
  );
  await stand.delete(`${APPS}/namespaces/default/deployments/half`);
  await stand.namespace('settling');
  await stand.certificate('settling', 'tls');
  await stand.workload({ namespace: 'settling', name: 'new', secrets: ['tls'], wish: 'secrets' });
  await stand.untilRolledOut();
  assert.deepEqual(await plan(), [], 'a workload whose pods are newer than its certificate');
  await stand.namespace('planned');
  await stand.certificate('planned', 'tls');
  const held = { namespace: 'planned', name: 'held', secrets: ['tls'], wish: 'secrets' };
  await stand.workload(held);
  await stand.workload({ ...held, name: 'typo', wish: 'yes' });
  await stand.untilRolledOut();
  await stand.patch(`${APPS}/namespaces/planned/deployments/held`, { spec: { paused: true } });
  await stand.issue('planned', 'tls', 2);
  const rows = await plan();
  assert.deepEqual(rows.map(({ workload }) => workload).sort(), [
    'Deployment planned/held',
    'Deployment planned/typo',
  ]);
  await until('people are told', PATIENCE_MS, async () => {
    const reasons = [
      ...(await stand.reasons('planned', 'held')),
      ...(await stand.reasons('planned', 'typo')),
    ];
    return reasons.includes('RefreshHeld') && reasons.includes('RefreshInvalid');
  });
});

test('a PodDisruptionBudget that allows nothing is respected until it allows something', async () => {
  const namespace = 'guarded';
  await stand.namespace(namespace);
  await stand.certificate(namespace, 'tls');
  const wanted = { namespace, name: 'db', kind: 'StatefulSet', secrets: ['tls'] } as const;
  await stand.workload({ ...wanted, wish: 'secrets' });
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  await stand.create(budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'db' },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'db' } } },
  });
  await until('its pod runs', PATIENCE_MS, async () => {
    const all = await stand.workloads();
    return all.some(
      ({ metadata, status }) => metadata.name === 'db' && status?.readyReplicas === 1,
    );
  });
  await stand.issue(namespace, 'tls', 2);
  await until('it is blocked', PATIENCE_MS, async () =>
    (await stand.reasons(namespace, 'db')).includes('RefreshBlocked'),
  );
  const key = `StatefulSet ${namespace}/db`;
  assert.equal((await restarts()).get(key), 0);
  await stand.patch(`${budgets}/db`, { spec: { maxUnavailable: 1 } });
  await until('it is restarted', PATIENCE_MS, async () => (await restarts()).get(key) === 1);
});

test('only workloads in opted-in namespaces are restarted, also after a late opt-in', async () => {
  const namespace = 'later';
  await stand.namespace(namespace, 'off');
  await stand.certificate(namespace, 'tls');
  await stand.workload({ namespace, name: 'web', secrets: ['tls'], wish: 'secrets' });
  await until('its pod runs', PATIENCE_MS, async () => {
    const all = await stand.workloads();
    return all.some(
      ({ metadata, status }) =>
        metadata.namespace === namespace && (status?.availableReplicas ?? 0) === 1,
    );
  });
  await stand.issue(namespace, 'tls', 2);
  // Another one is restarted after that, so this one had its turn.
  await stand.namespace('turn');
  await stand.certificate('turn', 'tls');
  await stand.workload({ namespace: 'turn', name: 'web', secrets: ['tls'], wish: 'secrets' });
  await stand.untilRolledOut();
  await stand.issue('turn', 'tls', 2);
  await until(
    'another is restarted',
    PATIENCE_MS,
    async () => (await restarts()).get('Deployment turn/web') === 1,
  );
  assert.equal((await restarts()).get('Deployment later/web'), 0);
  const labels = { 'countersign.dev/refresh': 'enabled' };
  await stand.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels } });
  await until(
    'it is restarted',
    PATIENCE_MS,
    async () => (await restarts()).get('Deployment later/web') === 1,
  );
});

test('each rule on workloads and certificates was used, and nothing was refused', async () => {
  const user = 'system:serviceaccount:countersign-system:countersign-pod-refresher';
  const events = (await cluster.readAudit()).filter(
    (each) => each.user.username === user && each.responseStatus?.code !== undefined,
  );
  const refused = events.filter(({ responseStatus }) => responseStatus?.code === 403);
  assert.deepEqual(
    refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`),
    [],
  );
  const used = new Set(events.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource ?? ''}`));
  const needed = [
    ...['deployments', 'statefulsets', 'daemonsets'].flatMap((each) => [
      `watch ${each}`,
      `patch ${each}`,
    ]),
    ...['namespaces', 'poddisruptionbudgets', 'certificates', 'certificaterequests'].map(
      (each) => `watch ${each}`,
    ),
    ...['podcertificaterequests', 'clustertrustbundles', 'clustersigners'].map(
      (each) => `watch ${each}`,
    ),
    'list pods',
    'create events',
    'get validatingadmissionpolicies',
    'update leases',
  ];
  assert.deepEqual(
    needed.filter((each) => !used.has(each)),
    [],
  );
});
