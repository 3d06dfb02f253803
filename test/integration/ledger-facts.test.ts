// SPDX-License-Identifier: Apache-2.0
/**
 * What components read back at the port of a real ledger, which asks a real API server about each
 * one's own token.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createRecordedNames } from '#requests/pcr-issuer/evidence/recorded-names.ts';
import { createRecordedDenials } from '#workloads/pod-refresher/recorded.ts';
import type { LedgerRecord } from '#ledger/index.ts';
import type { LedgerReader } from '#ledger/sender/reader.ts';
import { renderRbac } from '#install/render.ts';
import { ClusterView } from '#workloads/refresh/cluster-view.ts';
import type { Component } from '#component/contract.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { applyManifests } from '../support/cluster/installation.ts';
import { recordedComponent } from '../support/component/recorded-component.ts';
import { issuedRecord, NOW } from '../support/ledger/records.ts';
import { changed, clusterSigner, workloadSpec } from '../support/signers/cluster-signer.ts';
import { RAW } from './ledger/api-stand.ts';
import { LedgerStand } from './ledger/stand.ts';

const PATIENCE = 120_000;
/** More than a page. */
const LEAVES = 120;
const READERS = ['pcr-issuer', 'pod-refresher'] as const;
type Reader = (typeof READERS)[number];
const asking = changed(workloadSpec(), 'pods.services', {});
const SIGNER = clusterSigner(changed(asking, 'profile.maxDuration', '24h')) as ClusterSigner;

let cluster: Cluster;
let stand: LedgerStand;
let ledger: ComponentProcess;

/** The leaf of pod `n`, which lives for `n` minutes and has the names of Service web. */
function leafOf(n: number): LedgerRecord {
  return issuedRecord(n, {
    key: `pcr-issuer/${n}`,
    signer: { name: SIGNER.spec.signerName },
    decision: { rule: 'spec.pods.allow', services: ['web'], labels: { app: 'web' } },
  });
}

function denialOf(n: number): LedgerRecord {
  const { certificate: _leaf, ca: _ca, decision: _why, ...asked } = issuedRecord(n);
  const at = new Date(NOW + 30_000).toISOString();
  const signer = { name: SIGNER.spec.signerName };
  return {
    ...asked,
    signer,
    kind: 'denied',
    key: `pcr-issuer/denied-${n}`,
    at,
    reason: 'NotAllowed',
    message: 'no',
  };
}

before(async () => {
  // Its API server serves no API of the ledger.
  cluster = await startCluster({ version: '1.37', nodes: 0 });
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
});

after(async () => {
  await stand.stop();
  await cluster.stop();
});

/** A component that reads once, with its own token, a minute after the leaves were issued. */
function readingOnce(): { readonly component: Component; readonly signal: AbortSignal } {
  const ended = new AbortController();
  const component = recordedComponent({
    clock: () => NOW + 60_000,
    shard: { owns: () => true, onChange: () => undefined },
    delay: () => {
      ended.abort();
      return Promise.resolve();
    },
  });
  return { component, signal: ended.signal };
}

function ledgerFor(name: Reader): Promise<LedgerReader> {
  return stand.reader(`countersign-${name}`);
}

interface Read {
  readonly warned: string;
  readonly found: number;
}

/**
 * A ClusterRole with one verb on one resource, which the API server does not serve, for some
 * components.
 */
async function grant(
  name: string,
  verb: string,
  resource: string,
  components: readonly Reader[],
): Promise<void> {
  const apiGroups = ['ledger.countersign.dev'];
  await apply(cluster, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups, resources: [resource], verbs: [verb] }],
  });
  const accounts = components.map(
    (each) => `--serviceaccount=countersign-system:countersign-${each}`,
  );
  await cluster.kubectl([
    'create',
    'clusterrolebinding',
    name,
    `--clusterrole=${name}`,
    ...accounts,
  ]);
}

/** How many leaves lack the Service web, which is gone. */
async function outdated(): Promise<Read> {
  const { component, signal } = readingOnce();
  let found = 0;
  const names = createRecordedNames({
    component,
    ledger: await ledgerFor('pcr-issuer'),
    signers: () => [SIGNER],
    areServicesListed: () => true,
    serviceOf: () => undefined,
    say: () => undefined,
    count: (_signer, leaves) => (found = leaves),
    onAway: () => undefined,
  });
  await names.run(signal);
  return { warned: names.warnings().join(), found };
}

/** How many pods lose their last credential. */
async function endangered(): Promise<Read> {
  const { component, signal } = readingOnce();
  const view = new ClusterView(() => NOW + 60_000);
  const metadata = { name: 'team-3', uid: 'x', resourceVersion: '1', creationTimestamp: '' };
  const labels = { 'countersign.dev/refresh': 'enabled' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata, labels } };
  view.seen.namespaces('team-3', namespace, undefined);
  const facts = createRecordedDenials({
    component,
    ledger: await ledgerFor('pod-refresher'),
    view,
    isComplete: () => true,
    onChange: () => undefined,
  });
  await facts.run(signal);
  return { warned: facts.warnings().join(), found: view.endangered().length };
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
  test(`with ${verb} alone nothing is read: the ledger asks for both`, async () => {
    await grant(`only-${verb}`, verb, 'records', READERS);
    for (const read of [await outdated(), await endangered()])
      assert.match(read.warned, /forbidden/);
    await cluster.kubectl(['delete', 'clusterrolebinding', `only-${verb}`]);
  });
}

test('with the printed RBAC, a new process knows outdated leaves and expiring pods', async () => {
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

async function readBy(reader: LedgerReader): Promise<string> {
  const query = { path: `${RAW}/records`, query: {}, maxBytes: 1_000_000 };
  const signal = AbortSignal.timeout(PATIENCE);
  return JSON.stringify(await reader.get({ ...query, signal }).catch(String));
}

test('a token for another audience reads nothing, whatever its ServiceAccount may', async () => {
  const audience = 'https://kubernetes.default.svc';
  assert.match(await readBy(await stand.reader('countersign-pcr-issuer', audience)), /HTTP 401/);
  assert.match(await readBy(await stand.reader('countersign-pcr-issuer')), /"RecordList"/);
});

test('other ServiceAccounts are rejected even with the right and the audience', async () => {
  const named = ['-n', 'countersign-system'];
  await cluster.kubectl(['create', 'serviceaccount', 'auditor', ...named]);
  const role = '--clusterrole=countersign-ledger-reader';
  const bind = ['create', 'clusterrolebinding', 'auditor', role];
  await cluster.kubectl([...bind, '--serviceaccount=countersign-system:auditor']);
  assert.match(await readBy(await stand.reader('auditor')), /HTTP 401/);
});

test('by its token a component removes nothing, also where its role lets it', async () => {
  await grant('eraser', 'create', 'erasures', ['pcr-issuer']);
  const { status } = await stand.connection(await stand.token('countersign-pcr-issuer')).call({
    method: 'POST',
    path: `${RAW}/erasures`,
    body: '{}',
    maxBytes: 1_000_000,
    signal: AbortSignal.timeout(PATIENCE),
  });
  assert.equal(status, 401);
});

test('while the ledger is away both say so, and wait for nothing', async () => {
  await ledger.kill();
  for (const read of [await outdated(), await endangered()]) {
    assert.match(read.warned, /facts are those since the start/);
    assert.equal(read.found, 0);
  }
});
