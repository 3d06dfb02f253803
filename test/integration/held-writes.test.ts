// SPDX-License-Identifier: Apache-2.0
/**
 * Each component changes of each object what is its own to change, and nothing else, with the token
 * of its own ServiceAccount. Every write is a dry run, which admission judges as any other.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { selfSignedCa } from '../support/ca/ca-secret.ts';
import { createCsr } from '../support/cluster/requests/csr.ts';
import { HTTP_ROUTES } from './held-writes/definitions.ts';
import { EVENTS, EVICTIONS, LEASES, type Creation } from './held-writes/creations.ts';
import { LISTED, THEIRS } from './held-writes/routes.ts';
import { OPTED_IN } from './held-writes/workloads.ts';
import {
  HELD_WRITES,
  KEYS,
  METADATA,
  SYSTEM,
  type Body,
  type HeldWrite,
} from './held-writes/writes.ts';

const root = join(import.meta.dirname, '../..');
const SOON = 60_000;

let cluster: Cluster;
const clients = new Map<string, Client>();

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  await install();
  const components = new Set(
    [...HELD_WRITES, ...EVENTS, ...EVICTIONS, ...LEASES].map(({ component }) => component),
  );
  clients.set('', await clientOf(cluster.kubeconfig));
  for (const each of components) {
    const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM, `countersign-${each}`);
    clients.set(each, await clientOf(kubeconfig));
  }
  await createObjects();
  await policiesAreInForce();
});

after(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await cluster.stop();
});

for (const row of HELD_WRITES) {
  const { component, object, how, free = {}, refused = {} } = row;
  const what = `${how} ${String(object['kind'])} ${object.metadata.name}`;
  test(`${component} may ${what} as it does every day`, async () => {
    assert.equal(await denialOf(row, row.allowed), undefined);
  });
  for (const [change, body] of Object.entries({ ...METADATA, ...refused })) {
    if (change in free) continue;
    test(`${component} may not ${what} with ${change}`, async () => {
      assert.match((await denialOf(row, body)) ?? 'it is admitted', /^ValidatingAdmissionPolicy/);
    });
  }
}

for (const creation of [...EVENTS, ...EVICTIONS, ...LEASES]) {
  const { component, law, isAllowed } = creation;
  test(`${component} may ${isAllowed ? '' : 'not '}${law}`, async () => {
    const denial = await creationDenied(creation);
    if (isAllowed) assert.equal(denial, undefined);
    else assert.match(denial ?? 'it is admitted', /^ValidatingAdmissionPolicy/);
  });
}

test('acme-solver may not change or delete a route of others, whatever its labels say', async () => {
  const path = `/apis/networking.k8s.io/v1/namespaces/${SYSTEM}/ingresses/theirs`;
  const as = { component: 'acme-solver', method: 'DELETE' } as const;
  assert.match((await denied(as, path)) ?? 'it is admitted', /^ValidatingAdmissionPolicy/);
  const patch = { ...as, method: 'PATCH' } as const;
  const body = { metadata: { labels: { team: 'edge' } } };
  assert.match((await denied(patch, path, body)) ?? 'it is admitted', /^ValidatingAdmissionPolicy/);
  const own = HELD_WRITES.find((each) => each.component === 'acme-solver' && each.how === 'patch');
  assert.equal(
    await denied(as, path.replace('theirs', own?.object.metadata.name ?? '')),
    undefined,
  );
});

test('acme-solver may remove an Ingress’s labels, not a controller’s annotations', async () => {
  const [row] = HELD_WRITES.filter(
    (each) => each.component === 'acme-solver' && each.how === 'patch',
  );
  assert.ok(row !== undefined);
  const written = {
    metadata: {
      annotations: { 'field.cattle.io/publicEndpoints': '[]' },
      labels: { team: 'edge' },
      finalizers: ['ingress.k8s.aws/resources'],
    },
  };
  const path = `${row.collection}/${row.object.metadata.name}`;
  const contentType = 'application/merge-patch+json';
  const admin = clients.get('');
  await admin?.request({ method: 'PATCH', path, body: written, contentType });
  assert.equal(await denialOf(row, { metadata: { labels: { team: null } } }), undefined);
  const gone = { metadata: { annotations: { 'field.cattle.io/publicEndpoints': null } } };
  assert.match((await denialOf(row, gone)) ?? 'it is admitted', /^ValidatingAdmissionPolicy/);
  const none = { metadata: { finalizers: null } };
  await admin?.request({ method: 'PATCH', path, body: none, contentType });
});

async function denialOf(row: HeldWrite, change: Body): Promise<string | undefined> {
  const { component, collection, object, how, subresource } = row;
  if (how === 'create')
    return denied({ component, method: 'POST' }, collection, merged(object, change));
  const path = `${collection}/${object.metadata.name}`;
  const at = subresource === undefined ? path : `${path}/${subresource}`;
  if (how === 'patch') return denied({ component, method: 'PATCH' }, at, change);
  const now = await clients.get('')?.request<Body>({ method: 'GET', path });
  return denied({ component, method: 'PUT' }, at, merged(now ?? {}, change));
}

async function creationDenied({ component, path, body }: Creation): Promise<string | undefined> {
  return denied({ component, method: 'POST' }, path, body);
}

/** What the API server says against it; undefined: it is admitted. */
async function denied(
  {
    component,
    method,
  }: { readonly component: string; readonly method: 'DELETE' | 'PATCH' | 'POST' | 'PUT' },
  path: string,
  body?: Body,
): Promise<string | undefined> {
  const client = clients.get(component) ?? assert.fail(component);
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  try {
    await client.request({ method, path, query: { dryRun: 'All' }, body, contentType });
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const [, denial] = /(ValidatingAdmissionPolicy 'countersign-.*)/s.exec(error.message) ?? [];
    return denial ?? error.message;
  }
}

/** RFC 7396. */
function merged(target: Body, patch: Body): Body {
  const result: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else if (isMap(value)) result[key] = merged(isMap(result[key]) ? result[key] : {}, value);
    else result[key] = value;
  }
  return result;
}

function isMap(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function clientOf(kubeconfig: string): Promise<Client> {
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  return createClient({ connection, ...clocks, userAgent: 'countersign-test' });
}

async function install(): Promise<void> {
  const optionalComponents = [
    'pod-refresher',
    'acme',
    'acme-solver',
    'ledger',
    'trust-distributor',
    'federation',
    'notifier',
  ];
  const caBundles = [
    { resource: 'apiservices', name: 'v1alpha1.named.example.org' },
    { resource: 'customresourcedefinitions', name: 'things.defined.example.org' },
  ] as const;
  const installation = {
    ...DEMO,
    optionalComponents,
    caBundles,
    routeMetadata: LISTED,
    federated: ['partner.example'],
    aggregatedApi: true,
    acme: {
      signers: ['example.com/public'],
      secrets: [],
      accountKeys: [{ namespace: KEYS, name: 'account' }],
    },
  };
  for (const file of ['namespaces.yaml', 'crds', 'crds/acme'])
    await cluster.kubectl(['apply', '-f', join(root, 'deploy', file)]);
  await apply(JSON.stringify(HTTP_ROUTES));
  await established(cluster, 'crd/httproutes.gateway.networking.k8s.io');
  const roles = [...renderRbac(installation).values()];
  const policies = renderAdmission(installation);
  await apply(
    [...roles, policies.get('components.yaml'), policies.get('leases.yaml')].join('\n---\n'),
  );
  await apply([policies.get('refreshed.yaml'), policies.get('revocations.yaml')].join('\n---\n'));
}

async function createObjects(): Promise<void> {
  const admin = { user: 'kubernetes-admin', groups: ['system:masters'] };
  await createCsr(cluster, { name: 'held', signerName: 'example.com/people', as: admin });
  const labels = { 'countersign.dev/refresh': 'enabled', 'countersign.dev/trust': 'enabled' };
  const namespace = { name: OPTED_IN, labels };
  await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: namespace });
  const { certificate } = await selfSignedCa('Held');
  const there = new Map(
    HELD_WRITES.map((row) => [`${row.collection}/${row.object.metadata.name}`, row]),
  );
  for (const { collection, object, how } of there.values()) {
    const kind = object['kind'];
    if (kind === 'CertificateSigningRequest' || how === 'create') continue;
    const bundle = { spec: { trustBundle: certificate } };
    await create(collection, kind === 'ClusterTrustBundle' ? merged(object, bundle) : object);
  }
  await create(`/apis/networking.k8s.io/v1/namespaces/${SYSTEM}/ingresses`, THEIRS);
}

function create(path: string, body: Body): Promise<unknown> {
  return clients.get('')?.request({ method: 'POST', path, body }) ?? assert.fail('no client');
}

async function apply(input: string): Promise<void> {
  await cluster.kubectl(['apply', '-f', '-'], { input });
}

/**
 * The API server compiles a new policy within a few seconds: each of them refuses something here.
 */
async function policiesAreInForce(): Promise<void> {
  const refused = HELD_WRITES.map((row) => [row, METADATA['a finalizer']] as const);
  for (const [row, change] of refused) {
    await until(`what holds ${row.component} is in force`, SOON, () => denialOf(row, change));
  }
  for (const creation of [...EVENTS, ...EVICTIONS, ...LEASES].filter(({ isAllowed }) => !isAllowed))
    await until(`what holds ${creation.component} is in force`, SOON, () =>
      creationDenied(creation),
    );
}
