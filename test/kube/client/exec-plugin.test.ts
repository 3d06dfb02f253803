// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Connection } from '#kube/client/connection.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';

let directory: string;
before(() => (directory = mkdtempSync(join(tmpdir(), 'countersign-exec-plugin-'))));
after(() => {
  rmSync(directory, { recursive: true });
});

function write(text: string, name: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** A kubeconfig with this user. JSON is YAML. */
function kubeconfig({ user }: { readonly user: object }): string {
  const content = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/' } }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'me' } }],
    'current-context': 'main',
  };
  return write(JSON.stringify(content), 'kubeconfig');
}

const { clock } = fakeTime();
const load = (path: string): Promise<Connection> =>
  loadConnection({ kubeconfig: path, clock, environment: process.env });

const V1 = 'client.authentication.k8s.io/v1';

/** A user with a plugin: a script of sh, which prints an ExecCredential with this status. */
function pluginUser(status: string, exec: object = {}): object {
  const answer = `{"apiVersion":"${V1}","kind":"ExecCredential","status":${status}}`;
  const args = ['-c', `n=$(cat); echo '${answer}'`];
  return { exec: { apiVersion: V1, command: 'sh', args, interactiveMode: 'Never', ...exec } };
}
/** A script of sh that answers with a token that the shell expands. */
const answering = (token: string): string =>
  `echo '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"'"${token}"'"}}'`;

test('an exec plugin runs again after its token is rejected', async () => {
  const count = join(directory, 'count');
  const script = `echo x >> ${count}; n=$(wc -l < ${count}); ${answering('$n')}`;
  const user = pluginUser('', { args: ['-c', script] });
  const connection = await load(kubeconfig({ user }));
  const [first] = await Promise.all([connection.credentials(), connection.credentials()]);
  assert.equal(first.authorization, 'Bearer 1');
  connection.invalidate(first);
  assert.equal((await connection.credentials()).authorization, 'Bearer 2');
});

test('an exec plugin runs again once its token has expired', async () => {
  const time = fakeTime();
  const count = join(directory, 'expiring');
  const expiry = new Date(time.clock() + 90_000).toISOString();
  const status = `{"token":"'$n'","expirationTimestamp":"${expiry}"}`;
  const answer = `{"apiVersion":"${V1}","kind":"ExecCredential","status":${status}}`;
  const script = `echo x >> ${count}; n=$(wc -l < ${count}); echo '${answer}'`;
  const path = kubeconfig({ user: pluginUser('', { args: ['-c', script] }) });
  const { env: environment } = process;
  const connection = await loadConnection({ kubeconfig: path, clock: time.clock, environment });
  const bearer = async (): Promise<unknown> => (await connection.credentials()).authorization;
  assert.equal(await bearer(), 'Bearer 1');
  await time.advance(60_000);
  assert.equal(await bearer(), 'Bearer 1', 'it is current');
  await time.advance(60_000);
  assert.equal(await bearer(), 'Bearer 2');
});

// client-go, plugin/pkg/client/auth/exec: KUBERNETES_EXEC_INFO, env, and both kinds of credentials.
test('an exec plugin is given KUBERNETES_EXEC_INFO and its own variables', async () => {
  const info = join(directory, 'info');
  const script = `printf %s "$KUBERNETES_EXEC_INFO" > ${info}; ${answering('$REGION')}`;
  const env = [{ name: 'REGION', value: 'north' }];
  const user = pluginUser('', { args: ['-c', script], env });
  const credentials = await (await load(kubeconfig({ user }))).credentials();
  assert.equal(credentials.authorization, 'Bearer north');
  assert.deepEqual(JSON.parse(readFileSync(info, 'utf8')), {
    apiVersion: V1,
    kind: 'ExecCredential',
    spec: { interactive: false },
  });
});

test('an exec plugin may return a client certificate', async () => {
  const status = '{"clientCertificateData":"cert","clientKeyData":"key"}';
  const connection = await load(kubeconfig({ user: pluginUser(status) }));
  assert.deepEqual(await connection.credentials(), { tls: { cert: 'cert', key: 'key' } });
});

// client-go, UpdateTransportConfig: a token of the kubeconfig is meant to be used in its place.
test('an exec plugin does not run beside a token', async () => {
  const user = { token: 'own', ...pluginUser('', { args: ['-c', 'exit 1'] }) };
  const connection = await load(kubeconfig({ user }));
  assert.equal((await connection.credentials()).authorization, 'Bearer own');
});

// client-go, clientcmd/loader.go: a command with a separator is relative to the kubeconfig.
test('an exec plugin with a relative path is found beside the kubeconfig', async () => {
  chmodSync(write(`#!/bin/sh\n${answering('plugged')}\n`, 'plugin.sh'), 0o755);
  const path = kubeconfig({ user: pluginUser('', { command: './plugin.sh', args: [] }) });
  const connection = await load(path);
  assert.equal((await connection.credentials()).authorization, 'Bearer plugged');
});

const pluginFaults: readonly [what: string, exec: object, message: RegExp][] = [
  [
    'that needs a terminal',
    { interactiveMode: 'Always' },
    /standard input is not a terminal: run the command on a terminal/,
  ],
  [
    'that answers in another version',
    { args: ['-c', `echo '{"apiVersion":"${V1}beta1","kind":"ExecCredential","status":{}}'`] },
    /answered in client\.authentication\.k8s\.io\/v1beta1, and its user sets exec\.apiVersion client\.authentication\.k8s\.io\/v1: write/,
  ],
  ['that answers without a kind', { args: ['-c', 'echo {}'] }, /has no kind: ExecCredential/],
  [
    'that answers without credentials',
    pluginUser('{}'),
    /returned neither a token nor a certificate with its key/,
  ],
  [
    'that answers with a certificate alone',
    pluginUser('{"clientCertificateData":"cert"}'),
    /returned only a certificate or only its key/,
  ],
  ['that fails', { args: ['-c', 'exit 3'] }, /exec plugin sh failed with exit code 3/],
  [
    'that does not exist',
    { command: 'no-such-plugin' },
    /exec plugin no-such-plugin cannot be started \(ENOENT\): install it/,
  ],
];
for (const [what, exec, message] of pluginFaults) {
  test(`the error for an exec plugin ${what} has a remedy`, async () => {
    const user = 'exec' in exec ? exec : pluginUser('{"token":"t"}', exec);
    const connection = await load(kubeconfig({ user }));
    await assert.rejects(connection.credentials(), { code: 'KUBE_CONFIG', message });
  });
}
