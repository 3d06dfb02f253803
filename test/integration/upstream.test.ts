// SPDX-License-Identifier: Apache-2.0
/** A managed CA below a root that OpenSSL keeps: requested, signed, installed, rotated. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { findCondition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import { decodePem, decodePemAll } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { until } from '../cluster/until.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';

const PROPAGATION = '3s';
const WAIT_MS = 120_000;
const NAME = 'workload';

let fixture: Fixture;
const directory = mkdtempSync(join(tmpdir(), 'upstream-'));
const at = (name: string): string => join(directory, name);
before(async () => {
  fixture = await startFixture({ args: ['--propagation', PROPAGATION] });
  await createTeam(fixture.cluster, 'team-a', ['web']);
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', at('root.key'));
  writeFileSync(
    at('ca.ext'),
    [
      'basicConstraints = critical, CA:TRUE, pathlen:0',
      'keyUsage = critical, keyCertSign, cRLSign',
      'subjectKeyIdentifier = hash',
      'authorityKeyIdentifier = keyid',
      '',
    ].join('\n'),
  );
  const root = ['-x509', '-key', at('root.key'), '-days', '3650', '-subj', '/CN=Offline root'];
  const usages = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  openssl('req', ...root, ...usages, '-out', at('root.crt'));
});
after(async () => {
  rmSync(directory, { recursive: true });
  await fixture.stop();
});

function openssl(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

const rootDer = (): Uint8Array => decodePem(readFileSync(at('root.crt'), 'utf8'), 'CERTIFICATE');

function verb(...args: readonly string[]): Promise<CommandResult> {
  const flags = ['--kubeconfig', fixture.cluster.kubeconfig];
  return countersign(['authority', ...args, ...flags], undefined, BUNDLE);
}

const signer = (): Promise<ClusterSigner> => getSigner(fixture.cluster, NAME);

async function change(body: object, as?: string): Promise<void> {
  const user = as === undefined ? [] : [`--as=${as}`];
  const patch = ['--type=merge', '-p', JSON.stringify(body), ...user];
  await fixture.cluster.kubectl(['patch', 'clustersigner', NAME, ...patch]);
}

async function active(except?: string): Promise<AuthorityStatus> {
  return until('another CA is Active', WAIT_MS, async () =>
    ((await signer()).status?.authorities ?? []).find(
      (each) => each.phase === 'Active' && each.fingerprint !== except,
    ),
  );
}

/** What the owner of the root does with the request that the command prints. */
async function signRequest(): Promise<string> {
  await until('a certificate is awaited', WAIT_MS, async () => {
    const { status } = await signer();
    const found = findCondition(status?.conditions, 'AwaitingCertificate');
    return found?.status === 'True' ? true : undefined;
  });
  const { code, stdout, stderr } = await verb('csr', NAME);
  assert.equal(code, 0, stderr);
  writeFileSync(at('ca.csr'), stdout);
  const by = ['-CA', at('root.crt'), '-CAkey', at('root.key'), '-CAcreateserial'];
  const what = ['-in', at('ca.csr'), '-days', '365', '-extfile', at('ca.ext')];
  openssl('x509', '-req', ...what, ...by, '-out', at('ca.crt'));
  writeFileSync(
    at('chain.pem'),
    readFileSync(at('ca.crt'), 'utf8') + readFileSync(at('root.crt'), 'utf8'),
  );
  return at('chain.pem');
}

/** What `openssl verify` says of a new pod's chain, from the root alone. */
async function verdictFromRoot(pod: string): Promise<string> {
  const wanted = { namespace: 'team-a', name: pod, serviceAccount: 'web', node: 'node-1' };
  const signerName = 'example.com/workload';
  await createPod(fixture.cluster, { ...wanted, signerName, keyType: 'ECDSAP256' });
  const { credentials } = await filesOf(fixture.cluster, wanted);
  const text = await readFile(credentials, 'utf8');
  const chain = text.slice(text.indexOf('-----BEGIN CERTIFICATE'));
  writeFileSync(at('chain.crt'), chain);
  const anchors = ['-x509_strict', '-no-CApath', '-no-CAstore', '-CAfile', at('root.crt')];
  // The file's first certificate is the leaf. The others are untrusted.
  const args = ['verify', ...anchors, '-untrusted', at('chain.crt'), at('chain.crt')];
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return status === 0 ? 'OK' : stdout + stderr + chain;
}

let self: AuthorityStatus;
test('an upstream added to a CA that signs makes a request, and the CA signs on', async () => {
  self = await active();
  await change({ spec: { authority: { managed: { upstream: { manual: {} } } } } });
  await signRequest();
  assert.equal((await active()).fingerprint, self.fingerprint);
  assert.match(await verdictFromRoot('before'), /unable to get local issuer|self.signed/);
});

test('a root that is not known, and no consent, are refused by the command', async () => {
  const chain = at('chain.pem');
  const unknown = await verb('install', NAME, '--chain', chain, '--trust-everything-below');
  assert.deepEqual([unknown.code, /--root-fingerprint sha256:/.test(unknown.stdout)], [3, true]);
  const print = fingerprint(rootDer());
  const silent = await verb('install', NAME, '--chain', chain, '--root-fingerprint', print);
  assert.deepEqual([silent.code, /ConsentMissing/.test(silent.stdout)], [3, true]);
});

test('a user without sign and attest may not write the chain', async () => {
  const manual = { chain: 'forged', rootFingerprint: fingerprint(rootDer()) };
  const body = { spec: { authority: { managed: { upstream: { manual } } } } };
  await fixture.cluster.kubectl([
    'create',
    'clusterrole',
    'upstream-writer',
    '--verb=get,patch',
    '--resource=clustersigners.countersign.dev',
  ]);
  const binding = ['--clusterrole=upstream-writer', '--user=mallory'];
  await fixture.cluster.kubectl(['create', 'clusterrolebinding', 'upstream-writer', ...binding]);
  await assert.rejects(change(body, 'mallory'), /may not (sign|attest) for example\.com\/workload/);
});

let below: AuthorityStatus;
test('the installed chain signs, and OpenSSL accepts its leaves from the root alone', async () => {
  const consent = ['--trust-everything-below', '--root-fingerprint', fingerprint(rootDer())];
  const { code, stdout } = await verb('install', NAME, '--chain', at('chain.pem'), ...consent);
  assert.equal(code, 0, stdout);
  await change({ metadata: { annotations: { [ROTATE_AT]: formatTime(Date.now() + 1_000) } } });
  below = await active(self.fingerprint);
  const [anchor] = decodePemAll(below.anchors ?? '', 'CERTIFICATE');
  assert.deepEqual(anchor && fingerprint(anchor), fingerprint(rootDer()));
  assert.equal(await verdictFromRoot('after'), 'OK');
});

test('the next CA below the known root needs no fingerprint', async () => {
  await change({ metadata: { annotations: { [PREPARE_AT]: formatTime(Date.now() + 1_000) } } });
  const { code, stdout } = await verb('install', NAME, '--chain', await signRequest());
  assert.equal(code, 0, stdout);
  await change({ metadata: { annotations: { [ROTATE_AT]: formatTime(Date.now() + 1_000) } } });
  const next = await active(below.fingerprint);
  const phases = (await signer()).status?.authorities ?? [];
  assert.ok(phases.some((each) => each.fingerprint === below.fingerprint));
  assert.notEqual(next.fingerprint, self.fingerprint);
  assert.equal(await verdictFromRoot('rotated'), 'OK');
});
