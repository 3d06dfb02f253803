// SPDX-License-Identifier: Apache-2.0
/**
 * acme-solver on a real API server with its own role: real zones of BIND, and a real provider of
 * cert-manager behind the API server. The test takes the part of acme.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../../build/demo-installation.ts';
import type { Installation } from '#install/installation.ts';
import { renderRbac } from '#install/render.ts';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../../cluster/directory.ts';
import { established } from '../../cluster/established.ts';
import { freePort } from '../../cluster/ports.ts';
import { until } from '../../cluster/until.ts';
import { startBind, type DnsServer, type UpdateKey } from '../../dns/server.ts';
import { apply } from '../../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { componentKubeconfig } from '../../support/cluster/installation.ts';
import { frontProxyFlags } from '../../support/cluster/front-proxy.ts';
import { startProvider, type Provider } from './provider.ts';

const ROOT = join(import.meta.dirname, '../../..');
const apiVersion = 'acme.countersign.dev/v1alpha1';
const GROUP = 'acme.provider.example';
const DNS = 'countersign-dns';
const TEAM = 'team-a';
const SOON = 60_000;
const KEY: UpdateKey = {
  name: 'acme-key',
  algorithm: 'HMAC-SHA512',
  secret: Buffer.alloc(64, 7).toString('base64'),
};

let directory: string;
let cluster: Cluster;
let bind: DnsServer;
let provider: Provider;
let solver: ComponentProcess;

const roleOf = (more: Partial<Installation> = {}): string =>
  renderRbac({
    ...DEMO,
    namespacedSigners: true,
    optionalComponents: ['acme-solver'],
    solverSecrets: [DNS, TEAM].map((namespace) => ({ namespace, name: 'tsig' })),
    ...more,
  }).get('acme-solver.yaml') ?? '';

before(async () => {
  directory = makeDirectory();
  bind = await startBind({
    directory: join(directory, 'dns'),
    address: '127.0.0.1',
    port: await freePort(),
    zones: { 'example.test': ['@ NS ns1', 'ns1 A 127.0.0.1'] },
    updates: { zones: ['example.test'], key: KEY },
  });
  const flags = { 'kube-apiserver': await frontProxyFlags(join(directory, 'pki')) };
  cluster = await startCluster({ version: '1.37', nodes: 0, flags });
  const crds = ['-f', join(ROOT, 'deploy/crds/acme')];
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '--server-side', ...crds]);
  await established(cluster, ...crds);
  for (const namespace of [DNS, TEAM]) {
    const data = `--from-literal=tsig=${KEY.secret}`;
    await cluster.kubectl(['create', 'namespace', namespace]);
    await cluster.kubectl(['create', 'secret', 'generic', 'tsig', '-n', namespace, data]);
  }
  await cluster.kubectl(['apply', '-f', '-'], { input: roleOf() });
  await apply(cluster, signer('AcmeClusterSigner', { name: 'public' }));
  await apply(cluster, signer('AcmeSigner', { name: 'own', namespace: TEAM }, ['update']));
  await apply(cluster, signer('AcmeSigner', { name: 'unlisted', namespace: TEAM }, ['provider']));
  provider = await startProvider(cluster, { group: GROUP, directory });
  solver = await startComponent({
    name: 'acme-solver',
    kubeconfig: await componentKubeconfig(cluster, 'acme-solver'),
    program: [process.execPath, join(ROOT, 'dist/countersign.mjs')],
    args: [
      '--namespaced-signers',
      `--resolver=${bind.at}`,
      `--namespaced-solver=rfc2136=${bind.at}`,
      '--namespaced-network=127.0.0.0/8',
    ],
  });
  await solver.ready();
});
after(async () => {
  await solver.stop();
  await provider.stop();
  await cluster.stop();
  await bind.stop();
  removeDirectory(directory);
});

function signer(kind: string, metadata: object, names?: readonly string[]): object {
  const { name: keyName, algorithm } = KEY;
  const update = (secret: string): object => ({
    server: bind.at,
    tsig: { keyName, algorithm, secret: { name: secret } },
  });
  const config = {
    nameserver: bind.at,
    tsigKeyName: keyName,
    tsigAlgorithm: 'HMACSHA512',
    tsigSecretSecretRef: { name: 'tsig', key: 'tsig' },
  };
  const solvers = [
    { name: 'update', rfc2136: update('tsig') },
    { name: 'forbidden', rfc2136: update('account') },
    { name: 'provider', webhook: { groupName: GROUP, solverName: 'rfc2136', config } },
  ];
  const acme = {
    server: 'https://acme.example/dir',
    accountKey: { secret: { name: 'account' } },
    solvers: solvers.filter(({ name }) => names?.includes(name) ?? true),
  };
  const named = kind === 'AcmeClusterSigner' ? { signerName: 'example.com/public' } : {};
  return { apiVersion, kind, metadata, spec: { ...named, acme } };
}

interface Report {
  readonly presented?: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly at?: string;
}

let made = 0;

/** A Challenge that acme has given a slot. */
async function challenge(
  solverName: string,
  [dnsName, key]: readonly [string, string],
  more: { readonly of?: string; readonly wildcard?: boolean } = {},
): Promise<string> {
  made += 1;
  const { of = 'public', wildcard = false } = more;
  const kind = of === 'public' ? 'AcmeClusterSigner' : 'AcmeSigner';
  const name = `challenge-${made}`;
  await apply(cluster, {
    apiVersion,
    kind: 'Challenge',
    metadata: { name, namespace: TEAM },
    spec: {
      signerRef: { kind, name: of },
      orderRef: { name: 'order', uid: 'u' },
      authorizationURL: 'https://acme.example/authz/1',
      url: 'https://acme.example/chall/1',
      type: 'dns-01',
      token: 'token',
      key,
      dnsName,
      wildcard,
      solver: solverName,
    },
  });
  await say(name, { processing: true, state: 'pending' });
  return name;
}

async function say(name: string, status: object): Promise<void> {
  await cluster.kubectl([
    'patch',
    'challenges.acme.countersign.dev',
    name,
    '-n',
    TEAM,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ]);
}

async function reportOf(name: string): Promise<Report> {
  const { stdout } = await cluster.kubectl([
    'get',
    'challenges.acme.countersign.dev',
    name,
    '-n',
    TEAM,
    '-o',
    'json',
  ]);
  return (JSON.parse(stdout) as { status?: { solver?: Report } }).status?.solver ?? {};
}

const presented = (name: string, is = true): Promise<Report> =>
  until(`${name}: presented ${is}`, SOON, async () => {
    const report = await reportOf(name);
    if (report.presented === is) return report;
    throw new Error(JSON.stringify(report));
  });
const refused = (name: string, reason: string): Promise<Report> =>
  until(`${name}: ${reason}`, SOON, async () => {
    const report = await reportOf(name);
    if (report.reason === reason) return report;
    throw new Error(JSON.stringify(report));
  });
const ENDED = { processing: false, state: 'valid' };

test('a wildcard and its base name have two values; each one removes its own', async () => {
  const record = '_acme-challenge.www.example.test';
  const base = await challenge('update', ['www.example.test', 'value-1']);
  const star = await challenge('update', ['www.example.test', 'value-2'], { wildcard: true });
  assert.equal((await presented(base)).at, record);
  await presented(star);
  assert.deepEqual(await bind.txt(record), ['value-1', 'value-2']);
  await say(base, ENDED);
  await presented(base, false);
  assert.deepEqual(await bind.txt(record), ['value-2']);
  await say(star, ENDED);
  await presented(star, false);
  assert.deepEqual(await bind.txt(record), []);
});

test('an AcmeSigner proves names by the credentials of its own namespace', async () => {
  const own = await challenge('update', ['own.example.test', 'value'], { of: 'own' });
  await presented(own);
  assert.deepEqual(await bind.txt('_acme-challenge.own.example.test'), ['value']);
});

test('an AcmeSigner with an unlisted solver is rejected, and nothing is called', async () => {
  const name = await challenge('provider', ['unlisted.example.test', 'value'], {
    of: 'unlisted',
  });
  const { message = '' } = await refused(name, 'SolverNotAllowed');
  assert.match(message, /--namespaced-solver of it \(webhook=/);
});

test('a Secret that no role names is not read', async () => {
  const name = await challenge('forbidden', ['no.example.test', 'value']);
  const { message = '' } = await refused(name, 'CredentialUnusable');
  assert.match(
    message,
    /^Secret countersign-dns\/account cannot be read: .*--solver-secret countersign-dns\/account/,
  );
});

test('a cert-manager provider is called only with a grant and reads its own Secret', async () => {
  const record = '_acme-challenge.p.example.test';
  const name = await challenge('provider', ['p.example.test', 'value']);
  const { message = '' } = await refused(name, 'ProviderForbidden');
  assert.match(
    message,
    /adds acme\.provider\.example to acme\.dnsWebhooks in the values .*--dns-webhook acme\.provider\.example/,
  );
  assert.deepEqual(await bind.txt(record), []);
  await cluster.kubectl(['apply', '-f', '-'], {
    input: roleOf({ dnsWebhooks: [{ group: GROUP }] }),
  });
  assert.equal((await presented(name)).at, record);
  assert.deepEqual(await bind.txt(record), ['value']);
  await say(name, ENDED);
  await presented(name, false);
  assert.deepEqual(await bind.txt(record), []);
});

test('what a provider refuses is repeated, in quotes', async () => {
  await cluster.kubectl(['delete', 'secret', 'tsig', '-n', DNS]);
  const name = await challenge('provider', ['q.example.test', 'value']);
  const { message = '' } = await refused(name, 'ProviderRefused');
  assert.match(
    message,
    /^the provider acme\.provider\.example\/"rfc2136" could not do it: ".*tsig/,
  );
});

test('no log line has a credential', () => {
  assert.ok(solver.log.length > 0);
  assert.ok(!JSON.stringify(solver.log).includes(KEY.secret));
});
