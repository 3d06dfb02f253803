// SPDX-License-Identifier: Apache-2.0
/** Who reads which records without the aggregation layer: on a real API server that has none. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CONTAINER_CONFINEMENT, POD_CONFINEMENT } from '#install/pod-confinement.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { apply } from '../support/cluster/apply.ts';
import { applyManifests, SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { issuedRecord } from '../support/ledger/records.ts';
import { ledgerCommand } from './ledger/api-stand.ts';
import { LedgerStand } from './ledger/stand.ts';

const component = { name: 'pcr-issuer', version: '0.1.0', replica: 'pcr-issuer-0' };
const SERVICE = 'countersign-ledger-api';
const POD = { name: 'ledger', namespace: SYSTEM_NAMESPACE };

let directory: string;
let cluster: Cluster;
let stand: LedgerStand;
let ledger: ComponentProcess;

/** The API server passes requests on to no loopback address. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  assert.ok(found !== undefined, 'this machine has an address of its own');
  return found.address;
}

/**
 * The API server passes requests on to addresses of pods alone: this one has that of this machine.
 */
async function makePod(): Promise<void> {
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: POD,
    spec: {
      securityContext: POD_CONFINEMENT,
      containers: [{ name: 'ledger', image: 'none', securityContext: CONTAINER_CONFINEMENT }],
    },
  });
  const status = { podIP: ownAddress(), podIPs: [{ ip: ownAddress() }] };
  const patch = ['patch', 'pod', POD.name, '-n', POD.namespace, '--subresource=status'];
  await cluster.kubectl([...patch, '--type=merge', '-p', JSON.stringify({ status })]);
}

/** A Service that leads to this machine, as kube-controller-manager would make it of a pod. */
async function serve(port: number): Promise<void> {
  const metadata = { name: SERVICE, namespace: SYSTEM_NAMESPACE };
  const targetRef = { kind: 'Pod', ...POD };
  const labels = { 'kubernetes.io/service-name': SERVICE };
  const items = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { ports: [{ name: 'https', port: 443, targetPort: port }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata,
      subsets: [{ addresses: [{ ip: ownAddress(), targetRef }], ports: [{ name: 'https', port }] }],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, name: `${SERVICE}-own`, labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: [ownAddress()], conditions: { ready: true }, targetRef }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    },
  ];
  await apply(cluster, { apiVersion: 'v1', kind: 'List', items });
}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-reading-'));
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  await applyManifests(cluster);
  stand = await LedgerStand.create(cluster);
  ledger = await stand.startLedger('--listen-ledger', `0.0.0.0:${stand.port}`);
  const token = await stand.token('countersign-pcr-issuer');
  const records = [1, 2, 3].map((n) => issuedRecord(n, { key: `pcr-issuer/${n}`, component }));
  assert.deepEqual(await stand.append(token, ...records), Array(3).fill('kept'));
  await makePod();
  await serve(stand.port);
  const bind = [
    'create',
    'clusterrolebinding',
    'clients',
    '--clusterrole=countersign-ledger-client',
  ];
  await cluster.kubectl([...bind, '--group=people', '--user=lea']);
  await cluster.kubectl(['create', 'namespace', 'team-1']);
  const reader = ['--clusterrole=countersign-ledger-reader', '--user=lea'];
  await cluster.kubectl(['create', 'rolebinding', 'readers', '-n', 'team-1', ...reader]);
});

after(async () => {
  await stand.stop();
  await ledger.kill();
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('without the ledger its API is not served, and namespaces can be deleted', async () => {
  const { stdout } = await cluster.kubectl(['get', 'apiservices', '-o', 'name']);
  assert.doesNotMatch(stdout, /ledger/);
});

test('an administrator with a client certificate searches, shows and verifies', async () => {
  const found = await ledgerCommand(cluster, 'search', '--pod', 'team-3/pod-3');
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /\n1-2 +issued +team-3 /);
  const shown = await ledgerCommand(cluster, 'show', '1-0');
  assert.match(shown.stdout, /^record +1-0: issued$/m, shown.stderr);
  const verified = await ledgerCommand(cluster, 'verify');
  assert.match(verified.stdout, /the ledger is verified/, verified.stderr);
});

test('a team reads its own records, and nothing of others', async () => {
  const asLea = (...args: readonly string[]): ReturnType<typeof ledgerCommand> =>
    ledgerCommand(cluster, ...args, '--as', 'lea');
  const own = await asLea('search', '-n', 'team-1', '-o', 'name');
  assert.match(own.stdout, /1-0$/m, own.stderr);
  assert.match((await asLea('search', '-n', 'team-2')).stderr, /forbidden/i);
  assert.match((await asLea('search')).stderr, /forbidden/i);
});

test('whoever has no role is told which one it takes', async () => {
  const asking = ['search', '-n', 'team-1', '--as', 'tom'];
  assert.match((await ledgerCommand(cluster, ...asking)).stderr, /forbidden/i);
});

test('somebody with a token reads, and the token never reaches the ledger', async () => {
  await cluster.kubectl(['create', 'serviceaccount', 'auditor', '-n', 'team-1']);
  const user = 'system:serviceaccount:team-1:auditor';
  for (const role of ['client', 'reader']) {
    const name = ['create', 'clusterrolebinding', `auditor-${role}`, `--user=${user}`];
    await cluster.kubectl([...name, `--clusterrole=countersign-ledger-${role}`]);
  }
  const { stdout } = await cluster.kubectl(['create', 'token', 'auditor', '-n', 'team-1']);
  const token = stdout.trim();
  const kubeconfig = join(directory, 'auditor.yaml');
  writeFileSync(kubeconfig, readFileSync(cluster.kubeconfig));
  const set = ['config', '--kubeconfig', kubeconfig];
  await cluster.kubectl([...set, 'set-credentials', 'auditor', `--token=${token}`]);
  await cluster.kubectl([...set, 'set-context', '--current', '--user=auditor']);
  const asAuditor: Cluster = { ...cluster, kubeconfig };
  const found = await ledgerCommand(asAuditor, 'search', '-o', 'name');
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /1-2$/m);
  // A ledger that somebody has taken over keeps what it gets: here, a server in its place.
  const heard = await heardInPlace(asAuditor);
  assert.match(heard, /countersign-signature/i);
  assert.doesNotMatch(heard, /authorization/i);
  assert.ok(!heard.includes(token.slice(0, 40)));
});

/** What a program that listens where the ledger does gets of a search. */
async function heardInPlace(asking: Cluster): Promise<string> {
  const { createServer } = await import('node:https');
  const { tlsCertificate } = await import('../support/pki/tls-certificate.ts');
  let heard = '';
  const server = createServer(await tlsCertificate('ledger'), (request, response) => {
    heard += request.rawHeaders.join('\n');
    // A ledger answers 401 to a request without a signature, and a user then signs one.
    const isSigned = request.headers['countersign-signature'] !== undefined;
    response.writeHead(isSigned ? 503 : 401).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as { readonly port: number };
  try {
    await serve(port);
    await ledgerCommand(asking, 'search');
    return heard;
  } finally {
    server.close();
    await serve(stand.port);
  }
}
