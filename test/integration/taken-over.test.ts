// SPDX-License-Identifier: Apache-2.0
/**
 * What a component that was taken over cannot do: each sentence of SECURITY.md, tried with its own
 * token.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '#install/render.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { selfSignedCa } from '../support/ca/ca-secret.ts';
import { createCsr } from '../support/cluster/requests/csr.ts';
import { forgedRequest } from '../support/requests/forged-pkcs10.ts';
import {
  ATTEMPTS,
  FOREIGN,
  FOREIGN_BUNDLE,
  FOREIGN_SECRET,
  KEYS,
  SYSTEM,
  type Call,
} from './taken-over/attempts.ts';
import { ACME, CALL_PROVIDER, MAKE_CHALLENGE, PROVIDER } from './taken-over/acme-attempts.ts';
import { heldObjects } from './taken-over/held-attempts.ts';
import { FORGED, FORGED_BESIDE } from './taken-over/event-attempts.ts';
import { FEDERATED, federatedBundle } from './taken-over/federation-attempts.ts';
import { deploymentOf, NOT_OPTED_IN, OPTED_IN, RESTART } from './taken-over/refresh-attempts.ts';
import { patched } from './taken-over/patched.ts';
import {
  configMapsOf,
  NAMED,
  namedObjects,
  WRITE_ANCHORS,
  WRITE_SIGNER_ANCHORS,
  WRITE_CA_BUNDLE,
} from './taken-over/trust-attempts.ts';

const root = join(import.meta.dirname, '../..');
const SOON = 180_000; // A busy API server compiles all policies in half a minute.

let cluster: Cluster;
/** What a bundle must hold to be one. */
let anchor: string;
const kubeconfigs = new Map<string, string>();

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  anchor = (await selfSignedCa('Attack')).certificate;
  const files = ['namespaces.yaml', 'crds', 'admission'].map((name) => `deploy/${name}`);
  for (const file of [...files, 'deploy/crds/acme', 'rbac'])
    await cluster.kubectl(['apply', '-f', join(root, file)]);
  // Left out by default.
  const optionalComponents = [
    'pod-refresher',
    'acme',
    'acme-responder',
    'acme-solver',
    'external-signer',
    'ledger',
    'trust-distributor',
    'bundle-endpoint',
    'federation',
    'notifier',
  ];
  const acme = { signers: ['example.com/public'], secrets: [{ namespace: KEYS, name: 'account' }] };
  const installation = {
    ...DEMO,
    optionalComponents,
    acme,
    external: { signers: ['example.com/corporate'] },
    dnsWebhooks: [PROVIDER],
    caBundles: NAMED,
    federated: [FEDERATED],
  };
  const roles = renderRbac(installation);
  for (const name of optionalComponents) {
    await cluster.kubectl(['apply', '-f', '-'], { input: roles.get(`${name}.yaml`) ?? '' });
  }
  // In the way of who creates requests here.
  await cluster.kubectl(['delete', '-f', join(root, 'deploy/admission/who-may-request.yaml')]);
  await established(cluster, 'crd/clustersigners.countersign.dev');
  await applyCrds(cluster);
  await createObjects();
  // Now that its namespace is there.
  const signerSecrets = [{ namespace: OPTED_IN, name: 'team-ca' }];
  const withSigners = renderRbac({ ...installation, namespacedSigners: true, signerSecrets });
  await applyText(cluster, withSigners.get('trust-distributor.yaml') ?? '');
  for (const component of new Set(ATTEMPTS.map((each) => each.component))) {
    const account = `countersign-${component}`;
    kubeconfigs.set(component, await cluster.serviceAccountKubeconfig(SYSTEM, account));
  }
  await allowed('acme', MAKE_CHALLENGE);
  const policed = ATTEMPTS.filter(({ cannot }) =>
    /no CA of|names no signer|another issuer|is proved|metadata|Event of|with a token|workload|pod template|evict|rollout|opt in|annotate|another signer|an owner|another key|another trust domain|another server|TLS verification|CustomResourceDefinition|immutable|copied|cannot be deleted|sooner|pods of a workload|route|as its own|cursors/.test(
      cannot,
    ),
  );
  for (const { component, call } of policed) {
    // What none forbids by then is for its own law to say, by its name.
    await until(`the policy on ${component} is in force`, SOON, async () =>
      isForbidden((await attempt(call, component)).stderr),
    ).catch(() => undefined);
  }
});

after(async () => {
  await cluster.stop();
});

test('acme-solver may have the DNS webhook called that it was bound to', async () => {
  const { stderr } = await attempt(CALL_PROVIDER, 'acme-solver');
  // Nobody serves it here.
  assert.match(stderr, /NotFound/);
});

test('trust-distributor may write anchors where both consent', async () => {
  await allowed('trust-distributor', WRITE_ANCHORS);
  await allowed('trust-distributor', WRITE_CA_BUNDLE);
  await allowed('trust-distributor', WRITE_SIGNER_ANCHORS);
});

test('pod-refresher may restart a workload that opted in', async () => {
  await allowed('pod-refresher', RESTART);
});

for (const { component, cannot, call } of ATTEMPTS) {
  test(`${component} cannot ${cannot}`, async () => {
    const { code, stderr } = await attempt(call, component);
    assert.notEqual(code, 0);
    assert.ok(isForbidden(stderr), stderr);
  });
}

test('nothing is refused that an administrator may not do either', async () => {
  for (const { component, cannot, call } of ATTEMPTS) {
    if (call.verb === 'delete' || call.verb === 'create') continue;
    // What acme says is not for administrators to say either.
    if (call.path.startsWith(ACME) && call.path.endsWith('/status')) continue;
    const { stderr } = await attempt(call, undefined);
    assert.ok(!isForbidden(stderr), `${component} cannot ${cannot}: ${stderr}`);
  }
});

test('each component may make the objects of its installation', async () => {
  const bundle = {
    metadata: { name: 'example.com:workload:primary' },
    spec: { signerName: 'example.com/workload' },
  };
  const path = '/apis/certificates.k8s.io/v1/clustertrustbundles';
  await allowed('attester', { verb: 'create', path, body: bundle });
  const secrets = `/api/v1/namespaces/${KEYS}/secrets`;
  await allowed('authority', {
    verb: 'create',
    path: secrets,
    body: {
      type: 'kubernetes.io/tls',
      metadata: { name: 'people-ca' },
      data: { 'tls.crt': '', 'tls.key': '' },
    },
  });
  for (const component of new Set(ATTEMPTS.map((each) => each.component))) {
    // They record none.
    if (['acme-responder', 'ledger', 'bundle-endpoint'].includes(component)) continue;
    const own = component === 'notifier' ? FORGED_BESIDE : FORGED;
    await allowed(component, {
      ...own,
      body: {
        ...own.body,
        reportingController: `countersign.dev/${component}`,
        metadata: { ...own.body.metadata, name: `own-${component}` },
      },
    });
  }
});

/** By RBAC, or by an admission policy; not because the object is not there or is not valid. */
function isForbidden(stderr: string): boolean {
  // The API server asks for the verb sign when it validates a status.
  return /\(Forbidden\)|Forbidden: User "[^"]+" is not permitted to "sign"/.test(stderr);
}

async function allowed(component: string, call: Call): Promise<void> {
  const { code, stderr } = await attempt(call, component);
  assert.equal(code, 0, stderr);
}

async function attempt(
  { verb, path, body = {} }: Call,
  component: string | undefined,
): Promise<{ readonly code: number; readonly stderr: string }> {
  const kubeconfig =
    component === undefined ? cluster.kubeconfig : (kubeconfigs.get(component) ?? '');
  const options = { allowFailure: true, kubeconfig };
  if (verb === 'patch') return patched(path, body, kubeconfig);
  if (verb === 'get' || verb === 'delete') {
    return cluster.kubectl([verb, '--raw', path], options);
  }
  const object = verb === 'replace' ? await current(path) : {};
  const input = JSON.stringify({ ...object, ...made(path), ...overlaid(object, body) });
  return cluster.kubectl([verb, '--raw', path, '-f', '-'], { ...options, input });
}

/** The object at a path as it is now, whose resourceVersion a replace needs. */
async function current(path: string): Promise<Record<string, unknown>> {
  const { stdout } = await cluster.kubectl(['get', '--raw', path.replace(/\/approval$/, '')]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

function overlaid(
  object: Record<string, unknown>,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const metadata = { ...(object['metadata'] as object), ...(body['metadata'] as object) };
  const spec = { ...(object['spec'] as object), ...(body['spec'] as object) };
  const isBundle =
    body['spec'] !== undefined && 'signerName' in spec && object['spec'] === undefined;
  return { ...body, metadata, ...(isBundle ? { spec: { ...spec, trustBundle: anchor } } : {}) };
}

/** What a created object of a collection must say besides. */
function made(path: string): Record<string, unknown> {
  if (path.endsWith('/clustertrustbundles')) {
    const spec = { trustBundle: anchor };
    return { apiVersion: 'certificates.k8s.io/v1', kind: 'ClusterTrustBundle', spec };
  }
  if (path.endsWith('/podcertificaterequests')) {
    const whose = { namespace: SYSTEM, signerName: FOREIGN };
    return forgedRequest('certificates.k8s.io/v1', whose);
  }
  if (path.endsWith('/events')) return { apiVersion: 'events.k8s.io/v1', kind: 'Event' };
  return path.endsWith('/secrets') ? { apiVersion: 'v1', kind: 'Secret' } : {};
}

async function createObjects(): Promise<void> {
  await createCsr(cluster, { name: 'ours', signerName: 'example.com/people', as: ADMIN });
  await createCsr(cluster, { name: 'foreign', signerName: FOREIGN, as: ADMIN });
  for (const name of ['workload-ca', FOREIGN_SECRET]) {
    await create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: KEYS } });
  }
  await createCertificateRequest('acme', 'acme.countersign.dev', 'AcmeClusterSigner');
  for (const [name, signerName] of [
    ['ours', 'example.com/workload'],
    ['foreign', FOREIGN],
  ] as const) {
    const whose = { namespace: SYSTEM, signerName };
    const request = forgedRequest('certificates.k8s.io/v1', whose);
    await create({ ...request, metadata: { name, namespace: SYSTEM } });
    const group = name === 'ours' ? 'countersign.dev' : 'cert-manager.io';
    await createCertificateRequest(name, group, 'ClusterSigner');
  }
  await createWorkloads();
  for (const each of [...namedObjects(), ...heldObjects(), federatedBundle(anchor)])
    await create(each);
  await create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name: FOREIGN_BUNDLE },
    spec: { signerName: FOREIGN, trustBundle: anchor },
  });
  await create({
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'ClusterSigner',
    metadata: { name: 'guarded' },
    spec: {
      signerName: 'example.com/guarded',
      authority: {
        managed: { secret: { namespace: KEYS, name: 'guarded-ca' }, commonName: 'x' },
      },
      profile: { keyTypes: ['ED25519'], usages: ['client auth'] },
    },
  });
}

async function createCertificateRequest(name: string, group: string, kind: string): Promise<void> {
  const issuerRef = { name: 'x', kind, group };
  await create({
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: { name, namespace: SYSTEM },
    spec: { request: 'YQ==', issuerRef, ...(await whoami()) },
  });
}

async function createWorkloads(): Promise<void> {
  for (const [name, refresh] of [
    [OPTED_IN, 'enabled'],
    [NOT_OPTED_IN, 'off'],
  ] as const) {
    const labels = { 'countersign.dev/refresh': refresh, 'countersign.dev/trust': refresh };
    const metadata = { name, labels };
    await create({ apiVersion: 'v1', kind: 'Namespace', metadata });
    await cluster.kubectl(['create', 'serviceaccount', 'web', '--namespace', name]);
    for (const each of configMapsOf(name)) await create(each);
    await create({ ...deploymentOf(name, 'opted-in', 'secrets') });
    await create({ ...deploymentOf(name, 'opted-out', 'off') });
    const containers = [{ name: 'main', image: 'example.com/web' }];
    const pod = { metadata: { name: 'web', namespace: name } };
    const spec = { serviceAccountName: 'web', containers };
    await create({ apiVersion: 'v1', kind: 'Pod', ...pod, spec });
  }
}

/** What cert-manager's webhook would fill in. */
async function whoami(): Promise<object> {
  const { stdout } = await cluster.kubectl(['auth', 'whoami', '-o', 'json']);
  return (JSON.parse(stdout) as { status: { userInfo: object } }).status.userInfo;
}

const ADMIN = { user: 'kubernetes-admin', groups: ['system:masters'] };

async function create(object: Record<string, unknown>): Promise<void> {
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(object) });
}
