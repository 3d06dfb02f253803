// SPDX-License-Identifier: Apache-2.0
/**
 * Requests of ACME signers, from a rule to the certificate: the real API server, Pebble, and each
 * component with its own rights.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Order } from '#api/acme/order.ts';
import type { CheckReport } from '#diagnose/check/report.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { installAcme } from '../support/acme/installation.ts';
import { acmeClusterSigner, SIGNER_NAME, waitForAcmeSigner } from '../support/acme/signer.ts';
import { apply } from '../support/cluster/apply.ts';
import { refusedCalls } from '../support/cluster/audit.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import {
  allowCertificateRequesters,
  approvedRequest,
  getCertificateRequest,
  waitForReadyReason,
} from '../support/cluster/requests/certificate-request.ts';
import {
  allowRequesters,
  createCsr,
  waitForCertificate,
  waitForCondition,
} from '../support/cluster/requests/csr.ts';
import { startPebble, type Pebble } from './pebble.ts';

const signerName = SIGNER_NAME;
const issuerRef = { group: 'acme.countersign.dev', kind: 'AcmeClusterSigner', name: 'public' };
const SOON = 120_000;
/** cert-manager has a kind of this name, too. */
const ORDERS = 'orders.acme.countersign.dev';
const usages = ['digital signature', 'key encipherment', 'server auth'];

let cluster: Cluster;
let pebble: Pebble;
const components: ComponentProcess[] = [];
const directory = mkdtempSync(join(tmpdir(), 'acme-requests-'));

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  // Whether names are proved is tested elsewhere.
  pebble = await startPebble(directory, { env: { PEBBLE_VA_ALWAYS_VALID: '1' } });
  await installAcme(cluster, { components: ['acme'] });
  await applyCrds(cluster);
  await allowCertificateRequesters(cluster);
  await allowRequesters(cluster);
  await cluster.kubectl(['create', 'namespace', 'team-a']);
  await applySigner();
  await cli('account-key', 'public');
  for (const name of ['approver', 'acme'] as const) {
    const kubeconfig = await componentKubeconfig(cluster, name);
    components.push(await startComponent({ name, kubeconfig }));
  }
  await waitForAcmeSigner(cluster);
});

after(async () => {
  await Promise.all(components.map((each) => each.stop()));
  await pebble.stop();
  await cluster.stop();
  rmSync(directory, { recursive: true });
});

async function applySigner(): Promise<void> {
  const allow = {
    commonName: "self == '' || self.endsWith('.example')",
    dnsNames: "self.endsWith('.example')",
    ipAddresses: 'true',
    usages,
  };
  const solvers = [{ name: 'http', selfCheck: { waitInstead: '0s' }, http01: {} }];
  const spec = {
    profile: { usages },
    requests: { rules: [{ name: 'examples', when: 'true', allow }] },
    certificateRequests: {
      rules: [{ name: 'team-a', when: "request.namespace == 'team-a'", allow }],
    },
  };
  await apply(cluster, acmeClusterSigner({ server: pebble, solvers, spec }));
}

function cli(...[verb = '', ...rest]: readonly string[]): Promise<CommandResult> {
  return countersign([verb, '--kubeconfig', cluster.kubeconfig, ...rest], undefined, BUNDLE);
}

async function ordersIn(namespace: string): Promise<readonly Order[]> {
  const { stdout } = await cluster.kubectl(['get', ORDERS, '-n', namespace, '-o', 'json']);
  return (JSON.parse(stdout) as { readonly items: readonly Order[] }).items;
}

async function orderOf(namespace: string, request: string): Promise<readonly Order[]> {
  const all = await ordersIn(namespace);
  return all.filter(({ spec }) => spec.requestRef.name === request);
}

function text(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString();
}

test('an allowed CertificateRequest gets its certificate by one Order that it owns', async () => {
  const dnsNames = ['a.example', 'b.example'];
  const key = await approvedRequest(cluster, { dnsNames, usages, issuerRef });
  const { status, metadata } = await waitForReadyReason(cluster, key, 'Issued');
  const leaf = new X509Certificate(text(status?.certificate));
  assert.equal(leaf.subjectAltName, 'DNS:a.example, DNS:b.example');
  const orders = await orderOf('team-a', metadata.name);
  assert.equal(orders.length, 1);
  const [order] = orders;
  assert.equal(order?.metadata.name, `${metadata.name}-1`);
  assert.equal(order.status.state, 'valid');
  await cluster.kubectl(['delete', 'certificaterequest', '-n', 'team-a', metadata.name]);
  await until(
    'its Order goes with it',
    SOON,
    async () => (await orderOf('team-a', metadata.name)).length === 0,
  );
});

test('the Order of a wildcard that no solver proves waits and names it', async () => {
  const dnsNames = ['w.example', '*.w.example'];
  // HTTP-01 proves no wildcard: the server offers none, and no other solver fits.
  const key = await approvedRequest(cluster, { dnsNames, usages, issuerRef });
  const [, name = ''] = key.split('/');
  const order = await until('the Order says why it waits', SOON, async () => {
    const [found] = await orderOf('team-a', name);
    return found?.status.reason === 'NoSolver' && found;
  });
  assert.match(order.status.message ?? '', /w\.example/);
});

test('a request that no rule allows makes no Order, however it was approved', async () => {
  const key = await approvedRequest(cluster, { dnsNames: ['a.elsewhere'], usages, issuerRef });
  const allowed = await approvedRequest(cluster, { dnsNames: ['c.example'], usages, issuerRef });
  await waitForReadyReason(cluster, allowed, 'Issued');
  const [, name = ''] = key.split('/');
  assert.deepEqual(await orderOf('team-a', name), []);
  const { status } = await getCertificateRequest(cluster, key);
  assert.equal(status?.certificate, undefined);
});

test('a CertificateSigningRequest is approved by a rule, and its Order outlives it', async () => {
  const name = await createCsr(cluster, {
    signerName,
    dnsNames: ['d.example'],
    usages,
    commonName: '',
    organizations: [],
  });
  const leaf = new X509Certificate(await waitForCertificate(cluster, name));
  assert.equal(leaf.subjectAltName, 'DNS:d.example');
  const [order] = await orderOf('countersign-system', name);
  assert.equal(order?.status.state, 'valid');
  await cluster.kubectl(['delete', 'csr', name]);
  const again = await createCsr(cluster, {
    signerName,
    dnsNames: ['e.example'],
    usages,
    commonName: '',
    organizations: [],
  });
  await waitForCertificate(cluster, again);
  assert.equal((await orderOf('countersign-system', name)).length, 1);
});

test('a CertificateSigningRequest without a rule waits for people and makes no Order', async () => {
  const wanted = { dnsNames: ['f.elsewhere'], commonName: '', organizations: [] };
  const name = await createCsr(cluster, { ...wanted, signerName, usages });
  const other = await createCsr(cluster, {
    ...wanted,
    dnsNames: ['g.example'],
    signerName,
    usages,
  });
  await waitForCertificate(cluster, other);
  assert.deepEqual(await orderOf('countersign-system', name), []);
});

test('what no ACME server certifies ends the request, and makes no Order', async () => {
  const key = await approvedRequest(cluster, {
    dnsNames: ['h.example'],
    commonName: 'My server.example',
    usages,
    issuerRef,
  });
  const { status } = await waitForReadyReason(cluster, key, 'Failed');
  assert.match(JSON.stringify(status?.conditions), /neither a DNS name nor an address/);
  assert.deepEqual(await orderOf('team-a', key.split('/')[1] ?? ''), []);
});

test('a second certificate of the same names is a renewal, and names the first', async () => {
  const wanted = { dnsNames: ['i.example'], usages, issuerRef };
  const first = await approvedRequest(cluster, wanted);
  await waitForReadyReason(cluster, first, 'Issued');
  const second = await approvedRequest(cluster, wanted);
  await waitForReadyReason(cluster, second, 'Issued');
  const [order] = await orderOf('team-a', second.split('/')[1] ?? '');
  assert.equal(order?.spec.renewal, true);
  assert.match(order.spec.replaces ?? '', /^[\w-]+\.[\w-]+$/);
});

test('a live Order whose request was deleted is abandoned', async () => {
  const name = await createCsr(cluster, {
    dnsNames: ['*.j.example'],
    commonName: '',
    organizations: [],
    signerName,
    usages,
  });
  await waitForCondition(cluster, name, 'Approved');
  await until(
    'it has an Order',
    SOON,
    async () => (await orderOf('countersign-system', name)).length === 1,
  );
  await cluster.kubectl(['delete', 'csr', name]);
  await until(
    'its Order is gone',
    SOON,
    async () => (await orderOf('countersign-system', name)).length === 0,
  );
});

/** What Pebble says of the certificate of an Order. */
async function revocationOf(order: Order): Promise<{ Status: string; Reason?: number }> {
  const { serialNumber } = new X509Certificate(order.status.certificate ?? '');
  const said = await pebble.manage(`/cert-status-by-serial/${serialNumber.toLowerCase()}`);
  return JSON.parse(said) as { Status: string; Reason?: number };
}

test('revoking an Order revokes its certificate at the CA, and its status says so', async () => {
  const key = await approvedRequest(cluster, { dnsNames: ['k.example'], usages, issuerRef });
  await waitForReadyReason(cluster, key, 'Issued');
  const [, request = ''] = key.split('/');
  const [issued] = await orderOf('team-a', request);
  assert.ok(issued);
  assert.equal((await revocationOf(issued)).Status, 'Valid');
  const { name } = issued.metadata;
  await cli(
    'revoke',
    `order/${name}`,
    '--namespace',
    'team-a',
    '--reason',
    'keyCompromise',
    '--force',
  );
  const order = await until('the Order says so', SOON, async () => {
    const [found] = await orderOf('team-a', request);
    return found?.status.revocation?.state === 'revoked' && found;
  });
  assert.equal(order.status.revocation?.asked, 'keyCompromise');
  assert.equal(order.status.certificate, issued.status.certificate);
  const { Status, Reason } = await revocationOf(order);
  assert.deepEqual([Status, Reason], ['Revoked', 1]);
  await until('an Event says so', SOON, async () => {
    const of = `reason=Revoked,involvedObject.name=${name}`;
    const { stdout } = await cluster.kubectl([
      'get',
      'events',
      '-n',
      'team-a',
      '--field-selector',
      of,
      '-o',
      'name',
    ]);
    return stdout.trim() !== '';
  });
});

test('explain describes live Orders and their signer, and check finds no problem', async () => {
  const orders = await ordersIn('team-a');
  const named = (state: (order: Order) => boolean): string => {
    const order = orders.find(state);
    assert.ok(order, JSON.stringify(orders));
    return order.metadata.name;
  };
  const issued = named(({ status }) => status.state === 'valid');
  const waiting = named(({ status }) => status.reason === 'NoSolver');
  for (const [what, code, says] of [
    [`order/${issued}`, 0, /it has its certificate/],
    [`order/${waiting}`, 4, /NoSolver: .*w\.example/],
    [
      `certificaterequest/${waiting.replace(/-1$/, '')}`,
      4,
      new RegExp(`order[^ ]*/${waiting}[^]*NoSolver`),
    ],
    ['acmeclustersigner/public', 0, /serves example\.com\/public by https:/],
  ] as const) {
    const result = await cli('explain', what, '-n', 'team-a');
    assert.match(result.stdout, says, what);
    assert.equal(result.code, code, `${what}: ${result.stdout}${result.stderr}`);
  }
  const { stdout } = await cli('check', '-o', 'json');
  const { checks } = JSON.parse(stdout) as CheckReport;
  const found = checks.filter(({ id }) => id.startsWith('acme-'));
  assert.deepEqual(found.map(({ id, severity }) => `${id} ${severity}`).sort(), [
    'acme-components-there ok',
    'acme-orders-progress ok',
    'acme-signers-ready ok',
  ]);
  assert.match(JSON.stringify(found), /all 1 ACME signers are Ready/);
});

test('no component was refused a call', async () => {
  assert.deepEqual(await refusedCalls(cluster), []);
});
