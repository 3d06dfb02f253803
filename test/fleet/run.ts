// SPDX-License-Identifier: Apache-2.0
/**
 * A hub and a member, each a control plane of its own: the member joins, gets its CA, and signs for
 * a pod. What its credential cannot do on the hub is tried with that credential.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { findCondition } from '#api/request/conditions.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { Secret } from '#api/object/object.ts';
import type { FleetMember } from '#api/signer/fleet-member.ts';
import { createCaRequest } from '#ca/custody/managed.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { decodeCertificate, fingerprint } from '#pki/x509/certificate.ts';
import { connectHubs } from '#trust/authority/upstream/hub/connect.ts';
import { readToken } from '#trust/authority/upstream/hub/credential.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { ACCEPTED, chainOf, openOracle } from '../oracle/oracle.ts';
import { apply } from '../support/cluster/apply.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';
import {
  applySigner,
  example,
  getSigner,
  waitForReady,
  waitForUsableCa,
} from '../support/cluster/fixture.ts';
import {
  applyManifests,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';

const WAIT_MS = 180_000;
/** The roles that are shipped have this name. The hub and the member use it, each for its own. */
const SIGNER = 'example.com/workload';
const NAME = 'workload';
/** Names of requests of two members, without their last character. */
const OWN = 'countersign-prod.countersign-fleet';
const OTHER = 'countersign-other.countersign-fleet';
const TRUST_DOMAIN = 'prod.fleet.example.com';
const ARGS = ['--propagation', '1s'];

const directory = mkdtempSync(join(tmpdir(), 'fleet-'));
const at = (name: string): string => join(directory, name);
const started: { readonly stop: () => Promise<void> }[] = [];
let hub: Cluster;
let member: Cluster;

before(async () => {
  [hub, member] = await Promise.all([open(0), open(1)]);
  const only = ['approver', 'signer', 'attester', 'authority'] as const;
  started.push(await startComponents(hub, { args: ARGS, only }));
  const { spec, ...rest } = example(NAME);
  const { pods: _pods, certificateRequests: _requests, ...shared } = spec;
  await applySigner(hub, {
    ...rest,
    spec: {
      ...shared,
      profile: { maxDuration: '720h' },
      intermediates: {
        rules: [
          {
            name: 'own-cluster',
            when: "request.username == 'system:serviceaccount:countersign-fleet:' + cluster",
            trustDomain: "cluster + '.fleet.example.com'",
            uriConstraint: 'TrustDomain',
            usages: ['cert sign', 'crl sign'],
          },
        ],
      },
    },
  });
  await waitForReady(hub, NAME, 'Checked');
});
after(async () => {
  await Promise.all(started.map((each) => each.stop()));
  await Promise.all([hub, member].map((each) => each.stop()));
  rmSync(directory, { recursive: true });
});

async function open(nodes: number): Promise<Cluster> {
  const cluster = await startCluster({ nodes });
  await applyManifests(cluster);
  return cluster;
}

function fleet(...args: readonly string[]): Promise<CommandResult> {
  const flags = ['--kubeconfig', hub.kubeconfig, '--signer', SIGNER];
  return countersign(['fleet', ...args, ...flags], undefined, BUNDLE);
}

interface Upstream {
  readonly upstream: { readonly csr: Readonly<Record<string, unknown>> };
}

let installation: Installation;
let upstream: Upstream;
test('one command on the hub gives a member its credential, in a file for its owner', async () => {
  const out = at('prod.yaml');
  const { code, stdout, stderr } = await fleet(
    'join',
    'prod',
    '--member-signer',
    SIGNER,
    '--out',
    out,
  );
  assert.equal(code, 0, stderr);
  assert.equal(statSync(out).mode & 0o777, 0o600);
  upstream = parse(stdout.slice(stdout.indexOf('  upstream:'))) as Upstream;
  assert.equal(upstream.upstream.csr['cluster'], 'prod');
  const secret = parse(readFileSync(out, 'utf8')) as { stringData: Record<string, string> };
  assert.deepEqual(Object.keys(secret.stringData).sort(), ['ca.crt', 'server', 'token']);
  writeFileSync(at('token'), secret.stringData['token'] ?? '');
});

test('the member gets its CA from the hub, and its key stays in the member', async () => {
  await member.kubectl(['apply', '-f', at('prod.yaml')]);
  installation = await startComponents(member, { args: ARGS });
  started.push(installation);
  const { spec, ...rest } = example(NAME);
  const { managed } = spec.authority;
  const pods = {
    ...spec.pods,
    uris: [`'spiffe://${TRUST_DOMAIN}/ns/' + pod.namespace + '/sa/' + pod.serviceAccount`],
  };
  const authority = { managed: { ...managed, ...upstream, duration: '720h', renewBefore: '144h' } };
  await applySigner(member, { ...rest, spec: { ...spec, authority, pods } });
  await waitForUsableCa(member, NAME);
  const ca = decodeCertificate((await caChain())[0] ?? new Uint8Array());
  assert.deepEqual([ca.isCa, ca.pathLen], [true, 0]);
  assert.deepEqual(ca.sans.uris, [`spiffe://${TRUST_DOMAIN}`]);
  const whole = 8_760 * 3_600_000;
  assert.ok((ca.notAfter - ca.notBefore) * 6 <= whole + 300_000);
  const { stdout } = await hub.kubectl(['get', 'secrets,csr', '-A', '-o', 'json']);
  const key = Buffer.from((await caSecret()).data?.['tls.key'] ?? '', 'base64').toString();
  assert.ok(
    key.includes('PRIVATE KEY') && !stdout.includes((await caSecret()).data?.['tls.key'] ?? ''),
  );
});

async function caSecret(): Promise<Secret> {
  const args = ['get', 'secret', 'workload-ca', '-n', 'countersign-keys', '-o', 'json'];
  return JSON.parse((await member.kubectl(args)).stdout) as Secret;
}

async function caChain(): Promise<readonly Uint8Array[]> {
  const { data = {} } = await caSecret();
  return decodePemAll(Buffer.from(data['tls.crt'] ?? '', 'base64').toString(), 'CERTIFICATE');
}

test('Go and OpenSSL verify a pod of the member from the root of the hub alone', async () => {
  await createTeam(member, 'team-a', ['web']);
  const wanted = { namespace: 'team-a', name: 'web', serviceAccount: 'web', node: 'node-1' };
  await createPod(member, { ...wanted, signerName: SIGNER, keyType: 'ECDSAP256' });
  const { credentials } = await filesOf(member, wanted);
  const text = await readFile(credentials, 'utf8');
  const chain = text.slice(text.indexOf('-----BEGIN CERTIFICATE'));
  const { stdout: root } = await hub.kubectl([
    'get',
    'clustertrustbundle',
    'example.com:workload:primary',
    '-o',
    'jsonpath={.spec.trustBundle}',
  ]);
  writeFileSync(at('root.crt'), root);
  writeFileSync(at('chain.crt'), chain);
  const anchors = ['-x509_strict', '-no-CApath', '-no-CAstore', '-CAfile', at('root.crt')];
  const args = ['verify', ...anchors, '-untrusted', at('chain.crt'), at('chain.crt')];
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  const [leaf = new Uint8Array(), ...intermediates] = decodePemAll(chain, 'CERTIFICATE');
  assert.equal(intermediates.length, 1, 'the root is not sent');
  const roots = decodePemAll(root, 'CERTIFICATE');
  await using oracle = await openOracle();
  const verdict = await oracle.ask('v', chainOf({ leaf, intermediates, roots, now: Date.now() }));
  assert.equal(verdict.level, ACCEPTED, verdict.reason);
});

/** Runs kubectl on the hub with the token of the member, as a thief would. */
async function asMember(args: readonly string[], input?: string): Promise<string> {
  const token = readFileSync(at('token'), 'utf8');
  const place = JSON.parse(
    (await hub.kubectl(['config', 'view', '--raw', '--flatten', '-o', 'json'])).stdout,
  ) as { clusters: readonly { cluster: object }[] };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'hub', cluster: place.clusters[0]?.cluster }],
    users: [{ name: 'member', user: { token } }],
    contexts: [{ name: 'member', context: { cluster: 'hub', user: 'member' } }],
    'current-context': 'member',
  };
  writeFileSync(at('member.kubeconfig'), JSON.stringify(config), { mode: 0o600 });
  const flags = ['--kubeconfig', at('member.kubeconfig')];
  try {
    return (await hub.kubectl([...args, ...flags], input === undefined ? {} : { input })).stdout;
  } catch (error) {
    return String(error);
  }
}

async function requestOf(
  name: string,
  cluster: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const wanted = { keyType: 'ECDSAP256', commonName: 'CA', crossSigned: false } as const;
  const { request } = await createCaRequest({ ...wanted, cluster, now: Date.now() });
  return JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: SIGNER,
      usages: ['cert sign', 'crl sign'],
      ...more,
    },
  });
}

async function decided(name: string): Promise<CertificateSigningRequest> {
  return until(`${name} is decided`, WAIT_MS, async () => {
    const { stdout } = await hub.kubectl(['get', 'csr', name, '-o', 'json']);
    const csr = JSON.parse(stdout) as CertificateSigningRequest;
    return (csr.status?.conditions ?? []).length > 0 ? csr : undefined;
  });
}

interface Row {
  readonly cluster: string;
  readonly report: string;
  readonly version?: string;
  readonly authority?: { readonly fingerprint: string };
  readonly missingAnchors: readonly string[];
}

async function listed(): Promise<readonly Row[]> {
  const { code, stdout, stderr } = await fleet('list', '-o', 'json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as readonly Row[];
}

test('the hub lists its member with its CA and its anchors, from its report alone', async () => {
  const ca = fingerprint((await caChain())[0] ?? new Uint8Array());
  const row = await until('the member has reported its CA and the root', WAIT_MS, async () => {
    const [only, ...others] = await listed();
    assert.deepEqual(others, []);
    const isComplete = only?.authority?.fingerprint === ca && only.missingAnchors.length === 0;
    return isComplete ? only : undefined;
  });
  assert.deepEqual([row.cluster, row.report], ['prod', 'current']);
  assert.ok((row.version ?? '') !== '');
  const { stdout } = await fleet('list');
  assert.match(stdout, /^CLUSTER .*\nprod +sha256:[0-9a-f]{12} .* complete /);
});

test('a request of the member with the name of another cluster is denied', async () => {
  const name = `${OWN}-0`;
  await hub.kubectl(['delete', 'csr', name, '--ignore-not-found']);
  await asMember(['create', '-f', '-'], await requestOf(name, 'other'));
  const { status } = await decided(name);
  const denied = findCondition(status?.conditions, 'Denied');
  assert.equal(denied?.reason, 'NotAllowedByRule', JSON.stringify(status));
  assert.equal(status?.certificate, undefined);
});

test('an approval by an administrator does not replace a rule', async () => {
  await apply(hub, JSON.parse(await requestOf('by-hand', 'prod')) as object);
  const { status } = await decided('by-hand');
  assert.equal(findCondition(status?.conditions, 'Denied')?.reason, 'NotAllowedByRule');
});

const tried: readonly (readonly [what: string, args: readonly string[], refusal: RegExp])[] = [
  ['read Secrets', ['get', 'secrets', '-n', 'countersign-keys'], /cannot list resource "secrets"/],
  [
    'read the CA of the hub',
    ['get', 'secret', 'workload-ca', '-n', 'countersign-keys'],
    /forbidden/,
  ],
  ['list requests', ['get', 'csr'], /cannot list resource "certificatesigningrequests"/],
  ['read the request of another member', ['get', 'csr', `${OTHER}-0`], /cannot get/],
  ['delete a request', ['delete', 'csr', `${OWN}-0`], /cannot delete/],
  ['read signers', ['get', 'clustersigners'], /cannot list resource "clustersigners"/],
  ['list members', ['get', 'fleetmembers', '-n', 'countersign-fleet'], /cannot list resource/],
  ['make an account', ['create', 'sa', 'x', '-n', 'countersign-fleet'], /cannot create/],
  [
    'mint a token of another',
    ['create', 'token', 'default', '-n', 'countersign-fleet'],
    /cannot create/,
  ],
  [
    'mint a token for longer',
    ['create', 'token', 'prod', '-n', 'countersign-fleet', '--duration', '2000h'],
    /may not request a token for more than 2592000 s/,
  ],
];

for (const [what, args, refusal] of tried) {
  test(`the credential of a member cannot ${what} on the hub`, async () => {
    assert.match(await asMember(args), refusal);
  });
}

/** Patches a FleetMember of the hub with the token of the member. kubectl would read it first. */
async function patchAsMember(path: string, body: object): Promise<string> {
  const secret = parse(readFileSync(at('prod.yaml'), 'utf8')) as {
    readonly stringData: { readonly server: string; readonly 'ca.crt': string };
  };
  const { server, 'ca.crt': ca } = secret.stringData;
  const token = readToken(readFileSync(at('token'), 'utf8'));
  assert.ok(typeof token !== 'string');
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  const connect = connectHubs({ ...clocks, version: 'test' });
  const client = connect({ server, ca, token, resourceVersion: '' });
  const contentType = 'application/merge-patch+json';
  try {
    const members = '/apis/countersign.dev/v1alpha1/namespaces/countersign-fleet/fleetmembers';
    await client.request({ method: 'PATCH', path: `${members}/${path}`, contentType, body });
    return 'written';
  } catch (error) {
    return String(error);
  } finally {
    await client.close();
  }
}

test('the credential of a member writes its own report, within the schema, only', async () => {
  const report = { status: { version: '9' } };
  const spec = { spec: { signerName: 'example.com/other' } };
  const long = { status: { waitsFor: 'x'.repeat(2_000) } };
  assert.match(await patchAsMember('prod', spec), /cannot patch resource "fleetmembers" in/);
  assert.match(await patchAsMember('other/status', report), /cannot patch resource/);
  assert.match(await patchAsMember('prod/status', long), /may not be more than 1024/);
  // The format date-time alone accepts it.
  const reportedAt = `2026-11-27T10:00:00ZT${'x'.repeat(2_000)}`;
  const late = { status: { reportedAt } };
  assert.match(await patchAsMember('prod/status', late), /may not be more than 30/);
  assert.equal(await patchAsMember('prod/status', { ...report, ...spec }), 'written');
  // Only the status of it was written.
  const { stdout } = await hub.kubectl(['get', 'fleetmembers', '-A', '-o', 'json']);
  const { items } = JSON.parse(stdout) as { items: readonly FleetMember[] };
  assert.deepEqual(
    items.map((each) => [each.spec.signerName, each.status?.version]),
    [[SIGNER, '9']],
  );
});

test('the credential of a member cannot approve, sign or write a status on the hub', async () => {
  const { stdout } = await hub.kubectl(['get', 'csr', `${OWN}-0`, '-o', 'json']);
  const path = `/apis/certificates.k8s.io/v1/certificatesigningrequests/${OWN}-0`;
  for (const part of ['approval', 'status']) {
    const said = await asMember(['replace', '--raw', `${path}/${part}`, '-f', '-'], stdout);
    assert.match(said, new RegExp(`cannot update resource "certificatesigningrequests/${part}"`));
  }
});

test('the credential of a member requests CAs of the hub under its own names only', async () => {
  const create = async (body: string): Promise<string> => asMember(['create', '-f', '-'], body);
  const named = await requestOf(`${OTHER}-1`, 'prod');
  assert.match(await create(named), /it is not a name of this member/);
  const client = { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
  assert.match(await create(await requestOf(`${OWN}-1`, 'prod', client)), /only/);
  const leaf = { usages: ['client auth'] };
  assert.match(await create(await requestOf(`${OWN}-1`, 'prod', leaf)), /only certificates of CAs/);
});

test('admission keeps a signer of leaves from becoming a signer of CAs', async () => {
  const { spec } = await getSigner(hub, NAME);
  const patch = JSON.stringify({ spec: { intermediates: spec.intermediates } });
  await assert.rejects(
    member.kubectl(['patch', 'clustersigner', NAME, '--type=merge', '-p', patch]),
    /intermediates.*cannot be added or removed/s,
  );
});

test('a member that left has no valid token, and its CA stays valid until its end', async () => {
  const before = fingerprint((await caChain())[0] ?? new Uint8Array());
  const { code, stdout, stderr } = await fleet('leave', 'prod');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /stay valid until \d{4}-/);
  assert.match(await asMember(['get', 'csr', `${OWN}-0`]), /cannot get|Unauthorized|logged/);
  // The API server caches a token for ten seconds.
  await until('the token is invalid', WAIT_MS, async () =>
    /Unauthorized|logged in/.test(await asMember(['auth', 'whoami'])),
  );
  assert.equal(fingerprint((await caChain())[0] ?? new Uint8Array()), before);
  assert.deepEqual(await listed(), []);
});

test('leave is refused for the fleet of another signer', async () => {
  const other = ['annotate', 'namespace', 'countersign-fleet', '--overwrite'];
  await hub.kubectl([...other, 'countersign.dev/fleet-signer=example.com/other']);
  const { code, stderr } = await fleet('leave', 'prod');
  assert.equal(code, 2, stderr);
  assert.match(stderr, /has the members of example.com\/other/);
});
