// SPDX-License-Identifier: Apache-2.0
/**
 * etcd is restored from an older copy while the components run: each version that they know is of a
 * time that has not been. They are ready again and answer by themselves, and trust does not go back
 * behind what the copy knows.
 */
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import { until } from '../cluster/until.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { startFixture, getSigner, type Fixture } from '../support/cluster/fixture.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';

const WAIT_MS = 180_000;
const BUNDLE = 'example.com:workload:primary';

let fixture: Fixture;
let successor: ComponentProcess | undefined;
before(async () => {
  fixture = await startFixture();
  await allowRequesters(fixture.cluster);
});
after(async () => {
  await successor?.stop();
  await fixture.stop();
});

/** While nothing runs that writes: a copy of its files is a snapshot. */
async function whileEtcdIsDown(deed: (directory: string, copy: string) => void): Promise<void> {
  const { cluster } = fixture;
  await cluster.apiServer.stop();
  await cluster.etcd.stop();
  deed(join(cluster.directory, 'etcd'), join(cluster.directory, 'etcd-copy'));
  await cluster.etcd.start();
  await cluster.apiServer.start();
}

async function anchors(): Promise<readonly string[]> {
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    'clustertrustbundle',
    BUNDLE,
    '-o',
    'json',
  ]);
  const { spec } = JSON.parse(stdout) as { readonly spec: { readonly trustBundle: string } };
  return [...publishedAnchors(spec.trustBundle).keys()];
}

async function version(): Promise<number> {
  const { stdout } = await fixture.cluster.kubectl(['get', '--raw', '/api/v1/namespaces?limit=1']);
  const { metadata } = JSON.parse(stdout) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  return Number(metadata.resourceVersion);
}

async function issue(...names: readonly string[]): Promise<void> {
  const { cluster } = fixture;
  await Promise.all(names.map((name) => createCsr(cluster, { name })));
  await Promise.all(names.map((name) => waitForCertificate(cluster, name)));
}

/**
 * So many that the restored etcd does not reach the versions of before until everybody has looked.
 */
async function fillConfigMaps(count: number): Promise<void> {
  const items = Array.from({ length: count }, (_none, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `lost-${index}`, namespace: 'default' },
  }));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await fixture.cluster.kubectl(['create', '-f', '-'], { input });
}

test('components recover after etcd is restored; distrusted CAs stay out of trust', async () => {
  const { cluster, installation } = fixture;
  const [active] = (await getSigner(cluster, 'workload')).status?.authorities ?? [];
  assert.ok(active);
  const { fingerprint } = active;
  const spec = { authority: { managed: { distrusted: [fingerprint] } } };
  const patch = JSON.stringify({ spec });
  await cluster.kubectl(['patch', 'clustersigner', 'workload', '--type=merge', '-p', patch]);
  await until('it is out of trust, and another one in', WAIT_MS, async () => {
    const published = await anchors();
    return published.length > 0 && !published.includes(fingerprint);
  });
  await issue('before');
  const before = await version();
  await whileEtcdIsDown((directory, copy) => {
    cpSync(directory, copy, { recursive: true });
  });

  const names = Array.from({ length: 20 }, (_none, index) => `forgotten-${index}`);
  await issue(...names);
  // The members of the Leases change as well.
  await installation.components.signer.kill();
  const kubeconfig = await componentKubeconfig(cluster, 'signer');
  successor = await startComponent({ name: 'signer', kubeconfig });
  await fillConfigMaps(600);
  assert.ok((await version()) > before + 600);

  await whileEtcdIsDown((directory, copy) => {
    rmSync(directory, { recursive: true });
    cpSync(copy, directory, { recursive: true });
  });
  assert.ok((await version()) < before + 100);
  const { signer: _killed, ...others } = installation.components;
  const all = [successor, ...Object.values(others)];
  await Promise.all(all.map((each) => each.ready(WAIT_MS)));
  assert.ok(!(await anchors()).includes(fingerprint));
  await issue('after', 'forgotten-0');
  assert.ok(!(await anchors()).includes(fingerprint));
});
