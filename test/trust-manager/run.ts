// SPDX-License-Identifier: Apache-2.0
/**
 * docs/how-to/take-over-from-trust-manager.md with the real trust-manager: its steps, while every
 * version of each ConfigMap is looked at.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { renderRbac } from '#install/render.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { installTrustManager, startTrustManager, type TrustManager } from './start.ts';
import { watchVersions, type Versions } from './versions.ts';

const WAIT_MS = 180_000;
const OPT_IN = 'countersign.dev/trust=enabled';
/** Of each test. */
const SAME_NAME = ['team-a', 'team-b'];
const OTHER_NAME = ['team-c', 'team-d'];
/** Of trust-distributor: a Bundle of this name has the same ConfigMap. */
const OURS = 'example.com.workload.primary';
/** A Bundle that a cluster had before. */
const THEIRS = 'corp-ca';
const PUBLISHED = ['get', 'clustertrustbundle', 'example.com:workload:primary'];

let fixture: Fixture;
let cluster: Cluster;
let client: Client;
let trustManager: TrustManager;
let distributor: ComponentProcess | undefined;
let anchors: string;

before(async () => {
  fixture = await startFixture({ only: ['authority', 'attester'] });
  cluster = fixture.cluster;
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  anchors = await until('the anchors are published', WAIT_MS, async () => {
    const { stdout } = await cluster.kubectl([...PUBLISHED, '-o', 'jsonpath={.spec.trustBundle}']);
    return stdout.trim() !== '' && stdout;
  });
  await installTrustManager(cluster);
  for (const name of [...SAME_NAME, ...OTHER_NAME])
    await apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  trustManager = await startTrustManager(cluster);
  const optionalComponents = ['trust-distributor'];
  const roles = renderRbac({ ...DEMO, optionalComponents }).get('trust-distributor.yaml') ?? '';
  await applyText(cluster, roles);
});
after(async () => {
  await distributor?.stop();
  await trustManager.stop();
  await client.close();
  await fixture.stop();
});

/**
 * A Bundle with the anchors that the ClusterSigner publishes, for namespaces with a label `bundle`
 * of its name.
 */
function bundle(name: string): Promise<void> {
  return apply(cluster, {
    apiVersion: 'trust.cert-manager.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name },
    spec: {
      sources: [{ inLine: anchors }],
      target: {
        configMap: { key: 'ca.crt' },
        namespaceSelector: { matchLabels: { bundle: name } },
      },
    },
  });
}

async function enableDistributor(): Promise<void> {
  const kubeconfig = await componentKubeconfig(cluster, 'trust-distributor');
  distributor ??= await startComponent({ name: 'trust-distributor', kubeconfig });
  await distributor.ready(WAIT_MS);
}

function label(namespaces: readonly string[], change: string): Promise<unknown> {
  return cluster.kubectl(['label', 'namespace', ...namespaces, change]);
}

/** Begins when each namespace has the ConfigMap with the anchors. */
async function watched(name: string, namespaces: readonly string[]): Promise<readonly Versions[]> {
  const all = namespaces.map((namespace) => watchVersions(client, { namespace, name }));
  for (const each of all)
    await until(`${each.what} has the anchors`, WAIT_MS, () =>
      Promise.resolve(each.latest()?.data?.['ca.crt']?.includes(anchors.trim()) === true),
    );
  return all;
}

function neverWithout(all: readonly Versions[]): void {
  for (const { what, faults } of all) assert.deepEqual(faults(anchors.trim()), [], what);
}

describe('taking over from trust-manager', () => {
  test('a ConfigMap of our name changes hands and has the anchors in each version', async () => {
    await label(SAME_NAME, `bundle=${OURS}`);
    await bundle(OURS);
    const all = await watched(OURS, SAME_NAME);
    await enableDistributor();
    await label(SAME_NAME, OPT_IN);
    const refused = /countersign_trust_targets_total\{[^}]*outcome="refused"[^}]*\} [1-9]/;
    await until('it says that it leaves them alone', WAIT_MS, async () =>
      refused.test((await distributor?.metrics()) ?? ''),
    );
    await trustManager.stop();
    await cluster.kubectl(['delete', 'bundle', OURS, '--cascade=orphan']);
    for (const namespace of SAME_NAME) {
      const of = ['configmap', OURS, '-n', namespace];
      await cluster.kubectl(['label', ...of, 'trust.cert-manager.io/bundle-']);
      await cluster.kubectl([
        'annotate',
        ...of,
        'countersign.dev/signer-name=example.com/workload',
      ]);
    }
    trustManager = await startTrustManager(cluster);
    const patch = JSON.stringify({ data: { 'more.crt': 'x' } });
    for (const each of all) {
      const [namespace = ''] = each.what.split('/');
      const of = ['configmap', OURS, '-n', namespace];
      await cluster.kubectl(['patch', ...of, '--type=merge', '-p', patch]);
      await until(`${each.what} is ours: what somebody adds is taken out`, WAIT_MS, () => {
        const { data = {}, metadata } = each.latest() ?? {};
        const isOwned = metadata?.ownerReferences !== undefined;
        return Promise.resolve(!isOwned && Object.keys(data).join() === 'ca.crt');
      });
    }
    neverWithout(all);
    for (const each of all) each.stop();
  });

  test('beside a ConfigMap of another name both exist; ours stays without the Bundle', async () => {
    await label(OTHER_NAME, `bundle=${THEIRS}`);
    await bundle(THEIRS);
    const theirs = await watched(THEIRS, OTHER_NAME);
    await enableDistributor();
    await label(OTHER_NAME, OPT_IN);
    const ours = await watched(OURS, OTHER_NAME);
    neverWithout(theirs);
    for (const each of theirs) each.stop();
    await cluster.kubectl(['delete', 'bundle', THEIRS]);
    for (const namespace of OTHER_NAME)
      await until(`${THEIRS} of ${namespace} is gone`, WAIT_MS, async () => {
        const get = ['get', 'configmap', THEIRS, '-n', namespace, '--ignore-not-found'];
        return (await cluster.kubectl([...get, '-o', 'name'])).stdout === '';
      });
    neverWithout(ours);
    for (const each of ours) each.stop();
  });
});
