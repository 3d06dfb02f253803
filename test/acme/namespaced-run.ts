// SPDX-License-Identifier: Apache-2.0
/**
 * AcmeSigners of a namespace, from their owner's words to certificates: the real API server,
 * Pebble, and each component with its own rights.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import { acmeDerivedName } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import type { Secret } from '#api/object/object.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { until } from '../cluster/until.ts';
import { installAcme } from '../support/acme/installation.ts';
import { apply } from '../support/cluster/apply.ts';
import { refusedCalls } from '../support/cluster/audit.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { BUNDLE, countersign } from '../support/cluster/countersign.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import {
  allowCertificateRequesters,
  approvedRequest,
  getCertificateRequest,
  waitForReadyReason,
} from '../support/cluster/requests/certificate-request.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { startPebble, type Pebble } from './pebble.ts';

const TEAM = 'team-a';
const SOON = 120_000;
const usages = ['digital signature', 'server auth'];
const issuerRef = { group: 'acme.countersign.dev', kind: 'AcmeSigner', name: 'web' };

let cluster: Cluster;
let pebble: Pebble;
const components: ComponentProcess[] = [];
const directory = makeDirectory();

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  // Whether names are proved is tested elsewhere.
  pebble = await startPebble(directory, { env: { PEBBLE_VA_ALWAYS_VALID: '1' } });
  for (const name of [TEAM, 'team-b']) await cluster.kubectl(['create', 'namespace', name]);
  const teamAccounts = [{ namespace: TEAM, name: 'account' }];
  await installAcme(cluster, { components: ['acme'], teamAccounts });
  await applyCrds(cluster);
  await allowCertificateRequesters(cluster);
  await allowRequesters(cluster);
  await allowOwner();
  for (const name of ['approver', 'acme'] as const) {
    const kubeconfig = await componentKubeconfig(cluster, name);
    const server = `--namespaced-server=${pebble.directory}`;
    const servers = [server, `--http01-zone=${TEAM}=a.example`];
    const ofAcme = name === 'acme' ? [...servers, '--namespaced-network=127.0.0.0/8'] : [];
    const args = ['--namespaced-signers', ...ofAcme];
    components.push(await startComponent({ name, kubeconfig, args }));
  }
});

after(async () => {
  await Promise.all(components.map((each) => each.stop()));
  await pebble.stop();
  await cluster.stop();
  removeDirectory(directory);
});

/**
 * What a team has in its own namespace: nothing of the cluster, and nothing of Countersign's
 * namespaces.
 */
async function allowOwner(): Promise<void> {
  const metadata = { name: 'owner', namespace: TEAM };
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'owner' };
  const rules = [
    {
      apiGroups: ['acme.countersign.dev'],
      resources: ['acmesigners'],
      verbs: ['get', 'create', 'patch'],
    },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch'] },
  ];
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'owner' }];
  await apply(
    cluster,
    { ...rbac, kind: 'Role', rules },
    { ...rbac, kind: 'RoleBinding', roleRef, subjects },
  );
}

/** As the owner writes it. */
async function create(name: string, more: object = {}): Promise<void> {
  const rules = [
    { name: 'own', when: 'true', allow: { dnsNames: "self.endsWith('.a.example')", usages } },
  ];
  const object = {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'AcmeSigner',
    metadata: { name, namespace: TEAM },
    spec: {
      acme: {
        server: pebble.directory,
        caBundle: pebble.ca,
        termsOfServiceAgreed: true,
        accountKey: { secret: { name: 'account' } },
        solvers: [
          { name: 'http', selfCheck: { waitInstead: '0s' }, http01: {} },
          { name: 'edge', selector: { matchLabels: { tier: 'edge' } }, http01: {} },
        ],
        ...more,
      },
      profile: { usages },
      requests: { rules },
      certificateRequests: { rules },
    },
  };
  await cluster.kubectl(['create', '-f', '-', '--as', 'owner'], { input: JSON.stringify(object) });
}

async function get<T>(...what: readonly string[]): Promise<T> {
  return JSON.parse((await cluster.kubectl(['get', ...what, '-o', 'json'])).stdout) as T;
}

function ready(name: string, status: 'True' | 'False'): Promise<Condition> {
  return until(`AcmeSigner ${name} is ${status}`, SOON, async () => {
    const { status: told } = await get<AcmeSigner>('acmesigner', name, '-n', TEAM);
    const condition = findCondition(told.conditions, 'Ready');
    if (condition?.status === status) return condition;
    throw new Error(JSON.stringify(told));
  });
}

async function ordersFor(request: string): Promise<readonly string[]> {
  const { items } = await get<{ readonly items: readonly Order[] }>(
    'orders.acme.countersign.dev',
    '-A',
  );
  return items
    .filter(({ spec }) => spec.requestRef.name === request)
    .map(({ metadata }) => metadata.namespace ?? '');
}

test('an AcmeSigner with an unlisted server is not ready, and nothing is called', async () => {
  await create('elsewhere', { server: 'https://127.0.0.1:1/dir' });
  const { reason, message = '' } = await ready('elsewhere', 'False');
  assert.equal(reason, 'ServerNotAllowed');
  assert.match(message, /--namespaced-server/);
});

test('an AcmeSigner whose Secret the installation does not name says how it is named', async () => {
  await create('ungranted', { accountKey: { secret: { name: 'another' } } });
  const { message = '' } = await ready('ungranted', 'False');
  assert.match(message, /acme\.secrets in the values .*--acme-secret team-a\/another/);
});

/** A command of the owner. */
async function asOwner(...args: readonly string[]): Promise<void> {
  const as = ['-n', TEAM, '--kubeconfig', cluster.kubeconfig, '--as', 'owner'];
  const { code, stdout, stderr } = await countersign([...args, ...as], undefined, BUNDLE);
  assert.equal(code, 0, stdout + stderr);
}

test('a verb alone lets the owner create the account key, which opens the account', async () => {
  await create('web');
  await asOwner('account-key', 'web');
  await ready('web', 'True');
});

test('its owner changes the key by two verbs, and the account stays', async () => {
  const account = async (): Promise<AcmeSigner['status']['account']> =>
    (await get<AcmeSigner>('acmesigner', 'web', '-n', TEAM)).status.account;
  const before = await account();
  for (const verb of ['prepare', 'activate']) await asOwner('authority', verb, 'acmesigner/web');
  const now = await account();
  assert.equal(now?.url, before?.url);
  assert.notEqual(now?.keyThumbprint, before?.keyThumbprint);
  const { data } = await get<Secret>('secret', 'account', '-n', TEAM);
  assert.deepEqual(Object.keys(data ?? {}), ['tls.key']);
});

test('CertificateRequests of its namespace get Orders there; others are not answered', async () => {
  const wanted = { dnsNames: ['www.a.example'], usages, issuerRef };
  const stranger = await approvedRequest(cluster, { ...wanted, namespace: 'team-b' });
  const key = await approvedRequest(cluster, wanted);
  const { status } = await waitForReadyReason(cluster, key, 'Issued');
  const leaf = new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));
  assert.equal(leaf.subjectAltName, 'DNS:www.a.example');
  const [, name = ''] = key.split('/');
  assert.deepEqual(await ordersFor(name), [TEAM]);
  assert.deepEqual(await ordersFor(stranger.split('/')[1] ?? ''), []);
  assert.equal((await getCertificateRequest(cluster, stranger)).status?.certificate, undefined);
});

test('a request with the labels that a solver is for is proved by that solver', async () => {
  const wanted = { dnsNames: ['edge.a.example'], usages, issuerRef };
  const key = await approvedRequest(cluster, { ...wanted, labels: { tier: 'edge' } });
  const challenge = await until('it has a Challenge', SOON, async () => {
    const list = ['challenges.acme.countersign.dev', '-n', TEAM];
    const { items } = await get<{ readonly items: readonly Challenge[] }>(...list);
    return items.find(({ spec }) => spec.dnsName === 'edge.a.example');
  });
  assert.equal(challenge.spec.solver, 'edge');
  await cluster.kubectl(['delete', 'certificaterequest', '-n', TEAM, key.split('/')[1] ?? '']);
});

test('CSRs of its derived name are answered by Orders in its namespace', async () => {
  const signerName = acmeDerivedName({ namespace: TEAM, name: 'web' });
  const wanted = { signerName, usages, commonName: '', organizations: [] };
  const foreign = await createCsr(cluster, { ...wanted, dnsNames: ['www.b.example'] });
  const name = await createCsr(cluster, { ...wanted, dnsNames: ['api.a.example'] });
  const leaf = new X509Certificate(await waitForCertificate(cluster, name));
  assert.equal(leaf.subjectAltName, 'DNS:api.a.example');
  assert.deepEqual(await ordersFor(name), [TEAM]);
  assert.deepEqual(await ordersFor(foreign), []);
});

test('no component was refused anything but the Secret that it was not granted', async () => {
  const others = (await refusedCalls(cluster)).filter((each) => !/secrets.*another/.test(each));
  assert.deepEqual(others, []);
});
