// SPDX-License-Identifier: Apache-2.0
/**
 * Our own ports on real nodes: certificates that authority makes, mounted, and rotated under a
 * scraper.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findCondition } from '#api/request/conditions.ts';
import type { ConfigMap, Secret } from '#api/object/object.ts';
import { ownTlsNames } from '#api/signer/own-tls.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import {
  startComponent,
  type ComponentName,
  type ComponentProcess,
} from '../support/cluster/component-process.ts';
import { applySigner, example, getSigner, waitForReady } from '../support/cluster/fixture.ts';
import {
  KEYS_NAMESPACE,
  SYSTEM_NAMESPACE,
  applyManifests,
  componentKubeconfig,
} from '../support/cluster/installation.ts';
import { mountServing } from '../support/cluster/serving-pod.ts';
import { createScraper } from '../support/cluster/scraper.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAIT_MS = 120_000;
/** Longer than it takes the kubelet to bring a ConfigMap to the scraper once its pod is touched. */
const PROPAGATION = ['--propagation', '15s'];
const SECRET = 'countersign-approver-serving';

let cluster: Cluster;
let directories: { readonly serving: string; readonly ca: string };
const running = new Map<ComponentName, ComponentProcess>();

async function start(name: ComponentName, args: readonly string[] = []): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(cluster, name);
  const component = await startComponent({ name, kubeconfig, args: [...PROPAGATION, ...args] });
  running.set(name, component);
  return component;
}

before(async () => {
  cluster = await startCluster({ nodes: 1 });
  await applyManifests(cluster);
  directories = await mountServing(cluster, SECRET);
  const flags = ['--listen-https', '127.0.0.1:0', '--serving-certificate', directories.serving];
  await start('approver', flags);
  for (const name of ['attester', 'authority'] as const) await start(name);
});
after(async () => {
  await Promise.all([...running.values()].map((each) => each.stop()));
  await cluster.stop();
});

function approver(): ComponentProcess {
  const found = running.get('approver');
  assert.ok(found !== undefined);
  return found;
}

async function get<T>(kind: string, name: string): Promise<T> {
  const { stdout } = await cluster.kubectl([
    'get',
    kind,
    name,
    '-n',
    SYSTEM_NAMESPACE,
    '-o',
    'json',
  ]);
  return JSON.parse(stdout) as T;
}

async function leafOf(name = SECRET): Promise<X509Certificate | undefined> {
  const { data = {} } = await get<Secret>('secret', name);
  const pem = Buffer.from(data['tls.crt'] ?? '', 'base64').toString();
  return pem === '' ? undefined : new X509Certificate(pem);
}

/** A touched pod is looked at by its kubelet at once, and not about a minute later. */
async function touch(): Promise<void> {
  const now = `touched=${Date.now()}`;
  await cluster.kubectl(['annotate', 'pod', 'serving', '-n', SYSTEM_NAMESPACE, '--overwrite', now]);
}

const scraper = createScraper({
  ca: () => readFileSync(join(directories.ca, 'ca.crt'), 'utf8'),
  port: () => Number(approver().log.find(({ msg }) => msg === 'started')?.['httpsPort']),
  serverName: ownTlsNames('approver', SYSTEM_NAMESPACE)[0] ?? '',
});

test('without a serving Secret a component works and stays ready; /readyz warns', async () => {
  await approver().ready();
  assert.match((await approver().readyz()).text, /warning: no HTTPS/);
  await running.get('authority')?.ready();
  assert.equal(await leafOf(), undefined);
});

test('the shipped ClusterSigner fills all serving Secrets; scrapers need a ConfigMap', async () => {
  await applySigner(cluster, example('serving'));
  await waitForReady(cluster, 'serving', 'Checked');
  for (const name of COMPONENTS.keys()) {
    const leaf = await until(`${name} has its certificate`, WAIT_MS, () =>
      leafOf(`countersign-${name}-serving`),
    );
    assert.ok(leaf.checkHost(`countersign-${name}.countersign-system.svc`));
  }
  await until('the ConfigMap is mounted', WAIT_MS, async () => {
    await touch();
    return existsSync(join(directories.ca, 'ca.crt'));
  });
  const body = await until('the port is served', WAIT_MS, async () => {
    await touch();
    return scraper.scrape();
  });
  assert.match(body, /countersign_build_info/);
  assert.doesNotMatch((await approver().readyz()).text, /HTTPS/);
  assert.equal((await fetch(`${approver().url}/metrics`)).status, 404);
});

test('no scrape fails while the serving CA rotates and authority is killed', async () => {
  const [before] = (await getSigner(cluster, 'serving')).status?.authorities ?? [];
  const leafA = await leafOf();
  scraper.begin();
  try {
    const now = new Date().toISOString();
    await cluster.kubectl([
      'annotate',
      'clustersigner',
      'serving',
      `countersign.dev/rotate-at=${now}`,
    ]);
    await until('B is published to scrapers, and does not sign', WAIT_MS, async () => {
      const { data = {} } = await get<ConfigMap>('configmap', 'countersign-serving-ca');
      return data['ca.crt']?.match(/BEGIN/g)?.length === 2;
    });
    assert.equal((await leafOf())?.fingerprint256, leafA?.fingerprint256);
    await running.get('authority')?.kill();
    await until('the scraper has B', WAIT_MS, async () => {
      await touch();
      return readFileSync(join(directories.ca, 'ca.crt'), 'utf8').match(/BEGIN/g)?.length === 2;
    });
    await start('authority');
    await until('B signs, and its leaf is shown', WAIT_MS, async () => {
      await touch();
      const shown = scraper.shown();
      return shown !== undefined && shown !== leafA?.fingerprint256;
    });
    const { status } = await getSigner(cluster, 'serving');
    const active = status?.authorities?.find(({ phase }) => phase === 'Active');
    assert.notEqual(active?.fingerprint, before?.fingerprint);
    assert.ok((await leafOf())?.checkIssued(new X509Certificate(active?.anchors ?? '')));
    await scraper.more(3);
  } finally {
    await scraper.end();
  }
  assert.deepEqual(scraper.failures(), []);
  assert.equal(scraper.keptConnections(), 1);
});

const heals: readonly [law: string, patch: object][] = [
  ['emptied', { data: null }],
  ['a key that is not its certificate’s', { stringData: { 'tls.key': 'no PEM' } }],
  ['another’s duration', { metadata: { annotations: { 'countersign.dev/duration': '1h' } } }],
];

for (const [law, patch] of heals) {
  test(`a serving Secret with ${law} heals without a restart`, async () => {
    const was = await leafOf();
    const text = JSON.stringify(patch);
    await cluster.kubectl([
      'patch',
      'secret',
      SECRET,
      '-n',
      SYSTEM_NAMESPACE,
      '--type=merge',
      '-p',
      text,
    ]);
    await until('there is a new one', WAIT_MS, async () => {
      const leaf = await leafOf().catch(() => undefined);
      return leaf !== undefined && leaf.fingerprint256 !== was?.fingerprint256;
    });
  });
}

async function patchCa(patch: object): Promise<void> {
  const name = ['countersign-serving-ca', '-n', KEYS_NAMESPACE];
  const text = JSON.stringify(patch);
  await cluster.kubectl(['patch', 'secret', ...name, '--type=merge', '-p', text]);
}

async function degraded(): Promise<string> {
  const { status } = await getSigner(cluster, 'serving');
  return findCondition(status?.conditions, 'Degraded')?.reason ?? '';
}

test('an invalid, immutable serving Secret is reported and recovers; no scrape fails', async () => {
  const was = await leafOf();
  scraper.begin();
  try {
    await patchCa({ stringData: { 'tls.key': 'no PEM' }, immutable: true });
    await until('it is named', WAIT_MS, async () => (await degraded()) === 'SecretImmutable');
    // Nobody can make it mutable again: it is deleted, and authority makes a CA in its place.
    await cluster.kubectl(['delete', 'secret', 'countersign-serving-ca', '-n', KEYS_NAMESPACE]);
    await until('another CA has signed', WAIT_MS, async () => {
      await touch();
      const leaf = await leafOf();
      return leaf !== undefined && leaf.fingerprint256 !== was?.fingerprint256;
    });
    await until('its leaf is shown', WAIT_MS, async () => {
      await touch();
      return scraper.shown() === (await leafOf())?.fingerprint256;
    });
    assert.equal(await degraded(), 'AsExpected');
  } finally {
    await scraper.end();
  }
  assert.deepEqual(scraper.failures(), []);
});

test('a serving Secret without consent is not written, and authority’s /readyz says so', async () => {
  const consent = (value: string): Promise<unknown> =>
    cluster.kubectl([
      'annotate',
      'secret',
      'countersign-signer-serving',
      '-n',
      SYSTEM_NAMESPACE,
      '--overwrite',
      `countersign.dev/filled-by${value}`,
    ]);
  const says = async (): Promise<boolean> =>
    /warning: .*countersign-signer-serving may not be filled in by Countersign/.test(
      (await running.get('authority')?.readyz())?.text ?? '',
    );
  await consent('-');
  await until('it says so', WAIT_MS, says);
  await consent('=countersign.dev/serving');
  await until('all is well again', WAIT_MS, async () => !(await says()));
});

test('a deleted serving Secret is reported and refilled after applying the manifests', async () => {
  const ofIdle = 'countersign-ledger-serving';
  await cluster.kubectl(['delete', 'secret', ofIdle, SECRET, '-n', SYSTEM_NAMESPACE]);
  const said = await until('it is named', WAIT_MS, async () => {
    const { text = '' } = (await running.get('authority')?.readyz()) ?? {};
    return text.includes(`${SECRET} does not exist`) && text;
  });
  // No ledger runs, as in an installation that switches it off and has no Secret of it.
  assert.doesNotMatch(said, new RegExp(ofIdle));
  await scraper.scrape();
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/own-tls.yaml')]);
  await until('it is filled in', WAIT_MS, () => leafOf());
});

test('applying the manifests again keeps the certificates in the serving Secrets', async () => {
  const was = await get<Secret>('secret', 'countersign-signer-serving');
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/own-tls.yaml')]);
  const is = await get<Secret>('secret', 'countersign-signer-serving');
  assert.deepEqual(is.data, was.data);
});
