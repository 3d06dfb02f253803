// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { parse } from 'yaml';
import { fleetAnswers } from '../support/cluster/fleet-answers.ts';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { startScriptedServer, type ScriptedServer } from '../support/kube/scripted-server.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

let hub: ScriptedServer;
let ca: string;
let directory: string;
let out: string;
let count = 0;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fleet-join-'));
  const certificate = await tlsCertificate('hub', { dnsNames: ['kubernetes'] });
  ca = certificate.cert;
  hub = await startScriptedServer(certificate);
  hub.always(fleetAnswers('of-the-member'));
});
beforeEach(() => {
  out = join(directory, `${(count += 1)}.yaml`);
});
after(async () => {
  await hub.stop();
  rmSync(directory, { recursive: true });
});

const authority = (): object => ({
  'certificate-authority-data': Buffer.from(ca).toString('base64'),
});

/** Runs `countersign fleet join` with a kubeconfig that says this of the hub's TLS. */
function joinBy(tls: object, ...flags: readonly string[]): Promise<CommandResult> {
  const kubeconfig = join(directory, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: hub.url, ...tls } }],
    users: [{ name: 'u', user: { token: 'of-the-administrator' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const signers = ['--signer', 'fleet.example.com/members', '--member-signer', 'example.com/a'];
  const files = ['--kubeconfig', kubeconfig, '--out', out];
  return countersign(['fleet', 'join', 'prod', ...signers, ...files, ...flags]);
}

function written(): Readonly<Record<string, string>> {
  const { stringData } = parse(readFileSync(out, 'utf8')) as {
    readonly stringData: Readonly<Record<string, string>>;
  };
  return stringData;
}

test('without --server the member calls the server of the kubeconfig, by its CA', async () => {
  const { code, stderr } = await joinBy(authority());
  assert.equal(code, 0, stderr);
  assert.deepEqual(written(), { server: hub.url, 'ca.crt': ca, token: 'of-the-member' });
  assert.equal(statSync(out).mode & 0o777, 0o600);
});

test('with --server the member calls it, whatever tls-server-name is', async () => {
  const other = 'https://hub.example.com:6443';
  const tls = { ...authority(), 'tls-server-name': 'kubernetes' };
  const { code, stderr } = await joinBy(tls, '--server', other);
  assert.equal(code, 0, stderr);
  assert.equal(written()['server'], other);
});

for (const [name, tls, message, ...flags] of [
  ['tls-server-name', () => ({ ...authority(), 'tls-server-name': 'kubernetes' }), /by --server/],
  ['no CA', () => ({ 'insecure-skip-tls-verify': true }), /no certificate-authority of the hub/],
  ['a path', authority, /only; name such an address/, '--server', 'https://hub/k8s/clusters/c-1'],
  ['no scheme', authority, /only; name such an address/, '--server', 'hub.example.com:6443'],
] as const) {
  test(`nothing on the hub changes if a member could not call it: ${name}`, async () => {
    const before = hub.calls.length;
    const { code, stderr } = await joinBy(tls(), ...flags);
    assert.equal(code, 1);
    assert.match(stderr, message);
    const changes = hub.calls.slice(before).filter(({ method }) => method !== 'GET');
    assert.deepEqual(changes, []);
    assert.equal(existsSync(out), false);
  });
}

test('nothing on the hub changes if the file for the Secret exists', async () => {
  writeFileSync(out, 'kept');
  const before = hub.calls.length;
  const { code, stderr } = await joinBy(authority());
  assert.equal(code, 2);
  assert.match(stderr, /exists, and is never overwritten/);
  assert.equal(hub.calls.length, before);
  assert.equal(readFileSync(out, 'utf8'), 'kept');
});
