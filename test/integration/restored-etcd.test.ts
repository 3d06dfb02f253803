// SPDX-License-Identifier: Apache-2.0
/**
 * etcd is restored from an older copy while the components run: each version that they know is of a time that has not
 * been. They are ready again by themselves, trust does not go back behind what the copy knows, and those that were started
 * anew answer.
 */
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { publishedAnchors } from '../../src/pki/x509/trust-bundle.ts';
import { until } from '../cluster/until.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { startFixture, getSigner, type Fixture } from '../support/cluster/fixture.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';

const WAIT_MS = 180_000;
const BUNDLE = 'example.com:workload:primary';

let fixture: Fixture;
const successors: ComponentProcess[] = [];
before(async () => {
  fixture = await startFixture();
  await allowRequesters(fixture.cluster);
});
after(async () => {
  await Promise.all(successors.map((each) => each.stop()));
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

test('components are ready after etcd was restored from an older copy, and what it distrusts stays out of trust', async () => {
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
  // The member lists and leaders of the Leases change as well.
  await installation.components.signer.kill();
  await until(
    'its Leases were written for a while',
    WAIT_MS,
    async () => (await version()) > before + 200,
  );

  await whileEtcdIsDown((directory, copy) => {
    rmSync(directory, { recursive: true });
    cpSync(copy, directory, { recursive: true });
  });
  assert.ok((await version()) < before + 100);
  const { signer: _killed, ...others } = installation.components;
  await Promise.all(Object.values(others).map((each) => each.ready(WAIT_MS)));
  assert.ok(!(await anchors()).includes(fingerprint));
  // A watch from a version that has not been yet misses what comes before it: docs/how-to/replicas.md.
  await installation.components.approver.stop();
  for (const name of ['approver', 'signer'] as const) {
    const kubeconfig = await componentKubeconfig(cluster, name);
    successors.push(await startComponent({ name, kubeconfig }));
  }
  await issue('after', 'forgotten-0');
  assert.ok(!(await anchors()).includes(fingerprint));
});
