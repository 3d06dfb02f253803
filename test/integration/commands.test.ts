// SPDX-License-Identifier: Apache-2.0
/**
 * inspect, lint, needs-renewal, issued, request --pkcs12, completion and install against a real API
 * server.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InspectReport } from '#cli/commands/inspect/run.ts';
import type { IssuedCertificateRow } from '#operations/issued.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';

const WAIT_MS = 120_000;
const PASSWORD = 'correct horse';
const WEB = {
  namespace: 'team-shown',
  name: 'web',
  serviceAccount: 'web',
  node: 'node-1',
  signerName: 'example.com/workload',
  keyType: 'ED25519',
};

let fixture: Fixture;
let directory: string;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'commands-'));
  fixture = await startFixture();
  await createTeam(fixture.cluster, 'team-shown', ['web']);
  await createPod(fixture.cluster, WEB);
});
after(async () => {
  rmSync(directory, { recursive: true });
  await fixture.stop();
});

function run(command: string, ...args: readonly string[]): Promise<CommandResult> {
  const { kubeconfig } = fixture.cluster;
  return countersign([command, '--kubeconfig', kubeconfig, ...args], undefined, BUNDLE);
}

function openssl(...args: readonly string[]): string {
  return execFileSync('openssl', args, { cwd: directory, encoding: 'utf8' });
}

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

test('inspect shows what a pod mounts, and that its bundle trusts its certificate', async () => {
  const report = await until('the pod has its certificate', WAIT_MS, async () => {
    const { stdout, stderr } = await run('inspect', 'pod/web', '-n', 'team-shown', '-o', 'json');
    const read = JSON.parse(stdout === '' ? '{"items": []}' : stdout) as InspectReport;
    if (read.items.some(({ source }) => source.includes('certificateChain'))) return read;
    throw new Error(stderr);
  });
  const leaf = report.items.find((each) => each.kind === 'certificate' && !each.isCa);
  assert.ok(leaf?.kind === 'certificate');
  assert.equal(leaf.key.type, 'Ed25519');
  assert.ok(report.items.some(({ source }) => source.startsWith('ctb/')));
  const trusted = report.relations.trusted?.find(({ certificate }) => certificate === leaf.source);
  assert.match(trusted?.by.join() ?? '', /ctb\/example\.com:workload:/);
});

test('needs-renewal judges what a pod has by the exit codes of step', async () => {
  const codes = await Promise.all(
    [['--expires-in', '100%'], ['--expires-in', '90d'], ['--nothing']].map(
      async (args) => (await run('needs-renewal', 'pod/web', '-n', 'team-shown', ...args)).code,
    ),
  );
  assert.deepEqual(codes, [1, 0, 2]);
  assert.equal((await run('needs-renewal', 'pod/none', '-n', 'team-shown')).code, 2);
});

test('request --pkcs12 writes a file that OpenSSL opens, and never replaces one', async () => {
  const password = file('password', `${PASSWORD}\n`);
  const store = join(directory, 'jane.p12');
  const args = [
    '--signer',
    'example.com/people',
    '--name',
    'jane',
    '--group',
    'dev',
    '--out',
    directory,
    '--as',
    'jane',
    '--as-group',
    'dev',
    '--as-group',
    'system:authenticated',
    '--pkcs12',
    store,
    '--pkcs12-password-file',
    password,
  ];
  await fixture.cluster.kubectl([
    'create',
    'clusterrolebinding',
    'commands-request',
    '--clusterrole=countersign-csr-requester',
    '--group=dev',
  ]);
  const first = await run('request', ...args);
  assert.equal(first.code, 0, first.stderr);
  assert.equal(statSync(store).mode & 0o777, 0o600);
  const opened = openssl('pkcs12', '-in', store, '-passin', `pass:${PASSWORD}`, '-nodes');
  assert.match(opened, /friendlyName: jane/);
  assert.match(opened, /BEGIN PRIVATE KEY/);
  const again = await run('request', ...args);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /jane\.p12 exists/);
});

test('issued finds pods and people live, and says that there is no ledger', async () => {
  const all = await run('issued', '-o', 'json');
  assert.equal(all.code, 0, all.stderr);
  assert.match(all.stderr, /no ledger is installed/);
  const rows = JSON.parse(all.stdout) as IssuedCertificateRow[];
  assert.ok(rows.some(({ holder }) => holder === 'pod team-shown/web'));
  assert.ok(rows.some(({ holder, names }) => holder === 'user jane' && names.includes('jane')));
  const own = await run('issued', '--pod', 'team-shown/web', '-o', 'name');
  assert.match(own.stdout, /^podcertificaterequest team-shown\//);
  const [row] = rows;
  const shown = await run('issued', '--serial', row?.serial ?? '', '-o', 'wide');
  assert.match(shown.stdout, new RegExp(row?.fingerprint ?? 'none'));
  assert.equal((await run('issued', '--user', 'nobody')).code, 3);
});

test('lint refuses the CSRs and bundles that the API server refuses, and no other', async () => {
  openssl(
    'req',
    '-new',
    '-newkey',
    'ed25519',
    '-nodes',
    '-keyout',
    'k',
    '-subj',
    '/CN=x',
    '-out',
    'x.csr',
  );
  openssl('req', '-x509', '-key', 'k', '-subj', '/CN=ca', '-days', '3', '-out', 'ca.pem');
  openssl(
    'req',
    '-x509',
    '-key',
    'k',
    '-subj',
    '/CN=leaf',
    '-days',
    '3',
    '-out',
    'leaf.pem',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
  );
  const pem = openssl('req', '-in', 'x.csr').trim();
  const [ca, leaf] = ['ca.pem', 'leaf.pem'].map((name) => openssl('x509', '-in', name));
  const csr = (spec: object): object => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'linted' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'other.example/x',
      usages: ['client auth'],
      ...spec,
    },
  });
  const bundle = (spec: object, name = 'other.example:x:one'): object => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name },
    spec: { signerName: 'other.example/x', trustBundle: ca, ...spec },
  });
  const objects: object[] = [
    csr({}),
    csr({ usages: [] }),
    csr({ usages: ['client auth', 'client auth'] }),
    csr({ usages: ['client-auth'] }),
    csr({ expirationSeconds: 599 }),
    csr({ expirationSeconds: 600 }),
    csr({ signerName: 'nodomain/x' }),
    csr({ signerName: 'other.example' }),
    csr({ signerName: 'kubernetes.io/legacy-unknown' }),
    csr({ signerName: 'kubernetes.io/kube-apiserver-client' }),
    csr({ request: Buffer.from(pem.replace('Q', 'R')).toString('base64') }),
    csr({ request: Buffer.from(ca ?? '').toString('base64') }),
    bundle({}),
    bundle({}, 'other.example:y:one'),
    bundle({}, 'one'),
    bundle({ signerName: undefined }, 'one'),
    bundle({ signerName: undefined }, 'one:two'),
    bundle({ trustBundle: '' }),
    bundle({ trustBundle: leaf }),
    bundle({ trustBundle: `${ca}${ca}` }),
    bundle({ trustBundle: pem }),
  ];
  for (const [index, object] of objects.entries()) {
    const input = JSON.stringify(object);
    const asked = await fixture.cluster.kubectl(['create', '--dry-run=server', '-f', '-'], {
      input,
      allowFailure: true,
    });
    const { code, stdout } = await run('lint', file(`${index}.json`, input));
    assert.equal(code === 3, asked.code !== 0, `${input}\n${asked.stderr}\n${stdout}`);
  }
});

test('completion asks for live names, with the flags that are typed already', async () => {
  const { kubeconfig } = fixture.cluster;
  const completed = async (...words: readonly string[]): Promise<string> =>
    (await countersign(['__complete', ...words], undefined, BUNDLE)).stdout;
  const own = ['--kubeconfig', kubeconfig];
  assert.match(await completed('explain', ...own, '-n', 'team-shown', 'pod/'), /^pod\/web\t\n:4$/m);
  assert.match(await completed('request', ...own, '--signer', ''), /^example\.com\/people\t$/m);
  assert.match(await completed('inspect', ...own, '-n', 'team-sho'), /^team-shown\t\n:4$/m);
  assert.match(await completed('authority', 'prepare', ...own, 'work'), /^workload\t$/m);
  assert.equal(await completed('explain', '--kubeconfig', '/nowhere', 'pod/'), ':4\n');
});

/** Says in place of a kubelet that each pod is ready, so that old pods are deleted. */
async function reportPodsReady(): Promise<void> {
  const { cluster } = fixture;
  const namespace = ['-n', 'installed-system'];
  const pods = await cluster.kubectl(['get', 'pods', ...namespace, '-o', 'name']);
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
  for (const pod of pods.stdout.split('\n').filter((each) => each !== ''))
    await cluster.kubectl(['patch', pod, ...namespace, ...patch], { allowFailure: true });
}

/** Roles lose nothing while old pods are left; afterwards the same install takes the rest away. */
async function narrowsAfterRollouts(values: string): Promise<void> {
  const { cluster } = fixture;
  const role = ['clusterrole', 'countersign-pcr-issuer', '-o', 'jsonpath={.rules}'];
  const rights = async (): Promise<string> => (await cluster.kubectl(['get', ...role])).stdout;
  // Another image: the pods of this version are old ones afterwards.
  const wide = file('wide.yaml', 'podServices: true\nimage: {tag: "0.0.1"}\n');
  const install = ['install', '--values', values, '--force-conflicts'] as const;
  assert.equal((await run(...install, '--values', wide)).code, 0);
  assert.match(await rights(), /"services"/);
  const early = await run(...install);
  assert.match(early.stderr, /roles keep what pods of the version before may need/);
  assert.match(await rights(), /"services"/);
  await until('the roles lose what no pod needs', WAIT_MS, async () => {
    await reportPodsReady();
    return !/roles keep/.test((await run(...install)).stderr);
  });
  assert.doesNotMatch(await rights(), /"services"/);
}

/** What a person applies of the output of `rbac` stays a part of the installation. */
async function installsOverRbac(values: string): Promise<void> {
  const { cluster } = fixture;
  const binding = ['clusterrolebinding', 'countersign-attester'];
  await cluster.kubectl(['delete', ...binding]);
  const printed = await run('rbac', '--from-cluster');
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
  await cluster.kubectl(apply, { input: printed.stdout });
  const { code, stderr } = await run('install', '--values', values);
  assert.equal(code, 0, stderr);
  const path = 'jsonpath={.subjects[*].namespace}';
  const subjects = await cluster.kubectl(['get', ...binding, '-o', path]);
  assert.equal(subjects.stdout, 'installed-system');
  await cluster.kubectl(['delete', ...binding]);
  const named = await run('check', '--namespace', 'installed-system', '-o', 'json');
  const { checks } = JSON.parse(named.stdout) as { checks: readonly Finding[] };
  const found = checks.find(({ id, severity }) => id === 'roles-bound' && severity === 'error');
  assert.equal(
    found?.remediation,
    'countersign install --values values.yaml --force-conflicts',
    named.stdout,
  );
  await cluster.kubectl(apply, { input: printed.stdout });
}

/** A component that the values switch off goes, with its Service and the Secret of its port. */
async function switchesOff(values: string): Promise<void> {
  const off = file('off.yaml', 'components: {certificate-request: {enabled: false}}\n');
  const all = ['install', '--values', values, '--values', off] as const;
  const gone = [
    'deployment/countersign-certificate-request -n installed-system deleted',
    'service/countersign-certificate-request -n installed-system deleted',
    'secret/countersign-certificate-request-serving -n installed-system deleted',
    'serviceaccount/countersign-certificate-request -n installed-system deleted',
  ];
  const dry = await run(...all, '--dry-run=server');
  for (const each of gone) assert.ok(dry.stdout.includes(`${each} (server dry run)`), dry.stdout);
  const said = await run(...all);
  assert.equal(said.code, 0, said.stderr);
  for (const each of gone) assert.ok(said.stdout.includes(`${each}\n`), said.stdout);
  assert.doesNotMatch(
    said.stdout,
    /^(?:namespace|customresourcedefinition|clustersigner).*deleted/m,
  );
  assert.doesNotMatch((await run(...all)).stdout, / deleted(?:;|$)/m);
}

/** Objects that need no change are one line for people, and all are listed for programs. */
async function countsUnchanged(values: string): Promise<void> {
  const { stdout } = await run('install', '--values', values);
  const [, count] = /^(\d+) objects unchanged; -o yaml lists all\n$/.exec(stdout) ?? [];
  const listed = await run('install', '--values', values, '-o', 'json');
  const all = JSON.parse(listed.stdout) as readonly { readonly outcome: string }[];
  const unchanged = all.filter(({ outcome }) => outcome === 'unchanged');
  assert.equal(String(unchanged.length), count, stdout);
  assert.ok(unchanged.length > 100, stdout);
}

interface Finding {
  readonly id: string;
  readonly severity: string;
  readonly remediation?: string;
}

test('install applies the manifests once, and uninstall keeps keys and definitions', async () => {
  const values = file(
    'values.yaml',
    'signers: [{name: example.com/installed}]\nnamespace: installed-system\nkeysNamespace: installed-keys\n',
  );
  const dry = await run('install', '--values', values, '--dry-run=server', '--force-conflicts');
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stdout, /created \(server dry run\)/);
  const there = async (...args: readonly string[]): Promise<boolean> =>
    (await fixture.cluster.kubectl(['get', ...args], { allowFailure: true })).code === 0;
  const deployment = ['deployment', 'countersign-signer', '-n', 'installed-system'];
  assert.equal(await there(...deployment), false);
  // The fixture's own definitions and roles were applied by kubectl.
  const conflict = await run('install', '--values', values);
  assert.equal(conflict.code, 2, conflict.stdout);
  assert.match(conflict.stderr, /another program manages it.*--force-conflicts/);
  const installed = await run('install', '--values', values, '--force-conflicts');
  assert.equal(installed.code, 0, installed.stderr);
  assert.match(installed.stderr, /next: countersign check/);
  assert.equal(await there(...deployment), true);
  const again = await run('install', '--values', values, '--force-conflicts');
  assert.doesNotMatch(again.stdout, / created$/m);
  await countsUnchanged(values);
  await narrowsAfterRollouts(values);
  await installsOverRbac(values);
  await switchesOff(values);
  await namesWhatIsRefused(values);
  const planned = await run('uninstall', '--dry-run');
  assert.match(planned.stdout, /customresourcedefinition\/clustersigners\.countersign\.dev kept/);
  assert.equal(await there(...deployment), true);
  const removed = await run('uninstall');
  assert.equal(removed.code, 0, removed.stderr);
  assert.equal(await there(...deployment), false);
  assert.equal(await there('clusterrolebinding', 'countersign-attester'), false);
  // A component without its role cannot release its Lease.
  const labels = ['-A', '-l', 'app.kubernetes.io/name=countersign', '-o', 'name'];
  const leases = await fixture.cluster.kubectl(['get', 'leases', ...labels]);
  assert.match(removed.stdout, /^lease\/\S+ -n \S+ deleted$/m, leases.stdout);
  assert.equal(await there('namespace', 'installed-keys'), true);
  assert.equal(await there('clustersigner', 'workload'), true);
  assert.equal(await there('secret', 'workload-ca', '-n', 'countersign-keys'), true);
  await countsWithoutBindings();
});

/** Values of Kubernetes' own types. The chart's schema does not judge what is in them. */
const REFUSED_BY_THE_API = {
  'a number as a label': ['from: [{podSelector: {matchLabels: {app: 7}}}]', /app/],
  'a text in place of a list': [
    'from: [{podSelector: {matchExpressions: text}}]',
    /matchExpressions/,
  ],
  'an address that is none': ['from: [{ipBlock: {cidr: 10.0.0.0/64}}]', /cidr/],
} as const;

/** An object that the API server refuses is named with its field, and the next install goes on. */
async function namesWhatIsRefused(values: string): Promise<void> {
  for (const [what, [from, field]] of Object.entries(REFUSED_BY_THE_API)) {
    const wrong = file('wrong.yaml', `networkPolicy: {enabled: true, ${from}}\n`);
    for (const dry of [['--dry-run=server'], []]) {
      const refused = await run('install', '--values', values, '--values', wrong, ...dry);
      assert.equal(refused.code, 1, `${what}: ${refused.stderr}`);
      assert.match(refused.stderr, /networkpolicy/i, what);
      assert.match(refused.stderr, field, what);
      assert.doesNotMatch(refused.stderr, /^next: /m);
    }
  }
  const corrected = await run('install', '--values', values);
  assert.equal(corrected.code, 0, corrected.stderr);
}

/** The repetition of an uninstallation finds a component whose bindings are gone. */
async function countsWithoutBindings(): Promise<void> {
  const { cluster } = fixture;
  const labels = { 'app.kubernetes.io/name': 'countersign' };
  const containers = [{ name: 'web', image: 'registry.example/web:1' }];
  for (const namespace of ['installed-system', 'default'])
    await apply(cluster, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'still-there', namespace, labels },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
  const remove = (namespace: string): Promise<unknown> =>
    cluster.kubectl(['delete', 'deployment', 'still-there', '-n', namespace]);
  const installed = await run('uninstall', '--dry-run');
  const still = /installed by another program: deployment\/still-there -n installed-system;/;
  assert.match(installed.stderr, still);
  await remove('installed-system');
  const tenants = await run('uninstall', '--dry-run');
  assert.doesNotMatch(tenants.stderr, /installed by another program/);
  await remove('default');
}
