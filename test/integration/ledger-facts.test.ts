// SPDX-License-Identifier: Apache-2.0
/** What components read back of a real ledger, through a real API server, each with its own token. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import type { ClusterSigner } from '../../src/api/signer/cluster-signer.ts';
import { createRecordedNames } from '../../src/controllers/pcr-issuer/evidence/recorded-names.ts';
import { createRecordedDenials } from '../../src/controllers/pod-refresher/recorded.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { loadConnection } from '../../src/kube/client/kubeconfig.ts';
import type { LedgerRecord } from '../../src/ledger/index.ts';
import { renderRbac } from '../../src/manifests/render.ts';
import { ClusterView } from '../../src/refreshing/cluster-view.ts';
import type { Component } from '../../src/runtime/component/component.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { frontProxyFlags } from '../support/cluster/front-proxy.ts';
import { applyManifests, componentKubeconfig } from '../support/cluster/installation.ts';
import { recordedComponent } from '../support/component/recorded-component.ts';
import { issuedRecord, NOW } from '../support/ledger/records.ts';
import { changed, clusterSigner, workloadSpec } from '../support/signers/cluster-signer.ts';
import { serveBehindApiServer, SERVICE } from './ledger/api-stand.ts';
import { LedgerStand } from './ledger/stand.ts';

const PATIENCE = 120_000;
/** More than a page. */
const LEAVES = 120;
const READERS = ['pcr-issuer', 'pod-refresher'] as const;
type Reader = (typeof READERS)[number];
const asking = changed(workloadSpec(), 'pods.services', {});
const SIGNER = clusterSigner(changed(asking, 'profile.maxDuration', '24h')) as ClusterSigner;

let directory: string;
let cluster: Cluster;
let stand: LedgerStand;
let ledger: ComponentProcess;
const running: ComponentProcess[] = [];

/** The leaf of pod `n`, which lives for `n` minutes and has the names of Service web. */
function leafOf(n: number): LedgerRecord {
  return issuedRecord(n, {
    ...{ key: `pcr-issuer/${n}`, signer: { name: SIGNER.spec.signerName } },
    decision: { rule: 'spec.pods.allow', services: ['web'], labels: { app: 'web' } },
  });
}

function denialOf(n: number): LedgerRecord {
  const { certificate: _leaf, ca: _ca, decision: _why, ...asked } = issuedRecord(n);
  const at = new Date(NOW + 30_000).toISOString();
  const signer = { name: SIGNER.spec.signerName };
  return {
    ...{ ...asked, signer, kind: 'denied', key: `pcr-issuer/denied-${n}`, at },
    ...{ reason: 'NotAllowed', message: 'no' },
  };
}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-facts-'));
  const flags = { 'kube-apiserver': await frontProxyFlags(directory) };
  cluster = await startCluster({ version: '1.37', nodes: 0, flags });
  await applyManifests(cluster);
  for (const name of READERS)
    await applyText(
      cluster,
      renderRbac({ ...DEMO, optionalComponents: ['pod-refresher'] }).get(`${name}.yaml`) ?? '',
    );
  stand = await LedgerStand.create(cluster);
  ledger = await stand.startLedger();
  const token = await stand.token('countersign-pcr-issuer');
  const leaves = Array.from({ length: LEAVES }, (_, at) => leafOf(at + 1));
  // On a busy machine a ledger may lose its Lease for a moment; what it has is not kept twice.
  const results = await until('the ledger keeps the records', PATIENCE, () =>
    stand.append(token, ...leaves, denialOf(3)),
  );
  assert.deepEqual(new Set(results), new Set(['kept']));
  running.push(...(await serveBehindApiServer(cluster, stand)));
  await cluster.kubectl([
    ...['wait', `apiservice/${SERVICE}`, '--for=condition=Available'],
    `--timeout=${PATIENCE / 1000}s`,
  ]);
});

after(async () => {
  await stand.stop();
  await Promise.all(running.map((each) => each.kill()));
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs once what a component reads, with its own token, a minute after the leaves were issued. */
async function readAs(
  name: Reader,
  work: (component: Component, ended: AbortController) => Promise<void>,
): Promise<void> {
  const kubeconfig = await componentKubeconfig(cluster, name);
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  const client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  const ended = new AbortController();
  const component = recordedComponent({
    clock: () => NOW + 60_000,
    shard: { owns: () => true, onChange: () => undefined },
    delay: () => {
      ended.abort();
      return Promise.resolve();
    },
  });
  component.client.answer((asked) => client.request(asked));
  await work(component, ended).finally(() => client.close());
}

interface Read {
  readonly warned: string;
  readonly found: number;
}

/** How many leaves lack the Service web, which is gone. */
async function outdated(): Promise<Read> {
  let read: Read = { warned: '', found: 0 };
  await readAs('pcr-issuer', async (component, { signal }) => {
    let found = 0;
    const names = createRecordedNames({
      ...{ component, signers: () => [SIGNER], say: () => undefined },
      ...{ areServicesListed: () => true, serviceOf: () => undefined },
      ...{ count: (_signer, leaves) => (found = leaves), onAway: () => undefined },
    });
    await names.run(signal);
    read = { warned: names.warnings().join(), found };
  });
  return read;
}

/** How many pods lose their last credential. */
async function endangered(): Promise<Read> {
  let read: Read = { warned: '', found: 0 };
  await readAs('pod-refresher', async (component, { signal }) => {
    const view = new ClusterView(() => NOW + 60_000);
    const metadata = { name: 'team-3', uid: 'x', resourceVersion: '1', creationTimestamp: '' };
    const labels = { 'countersign.dev/refresh': 'enabled' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata, labels } };
    view.seen.namespaces('team-3', namespace, undefined);
    const facts = createRecordedDenials({
      ...{ component, view, isComplete: () => true, onChange: () => undefined },
    });
    await facts.run(signal);
    read = { warned: facts.warnings().join(), found: view.endangered().length };
  });
  return read;
}

/** That of pod 1 ends just then. */
const ALL = LEAVES - 1;

test('without the rule neither component reads a record, and both say so', async () => {
  for (const read of [await outdated(), await endangered()]) {
    assert.match(read.warned, /forbidden/);
    assert.equal(read.found, 0);
  }
});

for (const verb of ['get', 'list']) {
  test(`with ${verb} alone nothing is read: the API server and the ledger each ask for one`, async () => {
    const subjects = READERS.map(
      (each) => `--serviceaccount=countersign-system:countersign-${each}`,
    );
    const role = ['create', 'clusterrole', `only-${verb}`, `--verb=${verb}`];
    await cluster.kubectl([...role, '--resource=records.ledger.countersign.dev']);
    const binding = ['create', 'clusterrolebinding', `only-${verb}`, `--clusterrole=only-${verb}`];
    await cluster.kubectl([...binding, ...subjects]);
    for (const read of [await outdated(), await endangered()])
      assert.match(read.warned, /forbidden/);
    await cluster.kubectl(['delete', 'clusterrolebinding', `only-${verb}`]);
  });
}

test('with what rbac prints, a process that has just begun knows which leaves are outdated and which pods lose their last credential', async () => {
  const roles = renderRbac({ ...DEMO, optionalComponents: ['pod-refresher'], ledgerFacts: true });
  for (const name of READERS) await applyText(cluster, roles.get(`${name}.yaml`) ?? '');
  // The ledger keeps what it was answered for ten seconds.
  const first = await until('pcr-issuer reads', PATIENCE, async () => {
    const read = await outdated();
    return read.warned === '' ? read : undefined;
  });
  assert.equal(first.found, ALL);
  const second = await until('pod-refresher reads', PATIENCE, async () => {
    const read = await endangered();
    return read.warned === '' ? read : undefined;
  });
  assert.equal(second.found, 1);
});

test('while the ledger is away both say so, and wait for nothing', async () => {
  await ledger.kill();
  for (const read of [await outdated(), await endangered()]) {
    assert.match(read.warned, /facts are those since the start/);
    assert.equal(read.found, 0);
  }
});
