// SPDX-License-Identifier: Apache-2.0
/**
 * What the real kubectl refuses of kubeconfigs, and how it runs exec plugins, this client does
 * too.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { findBinaries } from '../cluster/binaries.ts';
import { runKubectl, writeKubectl } from '../cluster/kubectl.ts';
import type { Version } from '../cluster/releases.ts';
import { startScriptedServer, type ScriptedServer } from '../support/kube/scripted-server.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

const VERSION = (process.env['COUNTERSIGN_TEST_VERSION'] ?? '1.37') as Version;

let server: ScriptedServer;
let ca: string;
let home: string;
let kubectl: string;
let directory: string;
let count = 0;

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'kubectl-kubeconfig-'));
  const certificate = await tlsCertificate('server');
  ca = certificate.cert;
  server = await startScriptedServer(certificate);
  const binaries = await findBinaries(VERSION, console.error);
  kubectl = writeKubectl(home, binaries('kubectl'), join(home, 'none'));
});
beforeEach(() => {
  directory = join(home, `${(count += 1)}`);
  mkdirSync(directory);
});
after(async () => {
  await server.stop();
  rmSync(home, { recursive: true });
});

/** What the server learned of its caller. */
interface Caller {
  readonly authorization: string | undefined;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function write(name: string, content: unknown): string {
  const file = join(directory, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const cluster = (): object => ({ server: server.url, 'certificate-authority': 'ca.crt' });

const V1 = 'client.authentication.k8s.io/v1';
/** Prints an ExecCredential with a token of the shell's. */
const answering = (token: string, version = V1): string =>
  `#!/bin/sh\necho '{"apiVersion":"${version}","kind":"ExecCredential","status":{"token":"'"${token}"'"}}'\n`;
const plugin = (members: object = {}): object => ({
  exec: { apiVersion: V1, command: './plugin', interactiveMode: 'Never', ...members },
});

/** One kubeconfig in a folder with `ca.crt` and an executable `plugin`. */
interface Single {
  readonly name: string;
  readonly cluster?: () => object;
  readonly user?: object;
  readonly users?: readonly unknown[];
  readonly plugin?: string;
}

/** @returns what kubectl does with the kubeconfig, and its path */
async function judge(single: Single): Promise<{
  readonly caller: Caller | undefined;
  readonly stderr: string;
  readonly path: string;
}> {
  write('ca.crt', ca);
  chmodSync(write('plugin', single.plugin ?? answering('of-the-plugin')), 0o755);
  const { cluster: own = cluster, users = [], user = { token: 'of-the-user' } } = single;
  const path = write('kubeconfig', {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'unused' }, { name: 'c', cluster: own() }],
    users: [...users, { name: 'u', user }],
    contexts: [{ name: 'unused' }, { name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
  let caller: Caller | undefined;
  server.always((call) => {
    if (call.path === '/probe') caller = { authorization: call.headers.authorization };
    call.answer(200, {});
  });
  const args = ['get', '--kubeconfig', path, '--raw', '/probe'];
  const { stderr } = await runKubectl(kubectl, args, { timeout: 60_000, allowFailure: true });
  return { caller, stderr, path };
}

const loadOwn = (kubeconfig: string): ReturnType<typeof loadConnection> =>
  loadConnection({ kubeconfig, clock: Date.now, environment: process.env });

const ACCEPTED: readonly (Single & { readonly token: string })[] = [
  { name: 'entries that no context names are incomplete', users: [null], token: 'of-the-user' },
  { name: 'the path of a plugin is relative', user: plugin(), token: 'of-the-plugin' },
  {
    name: 'a plugin answers by KUBERNETES_EXEC_INFO',
    user: plugin(),
    plugin: answering('$(printf %s "$KUBERNETES_EXEC_INFO" | tr -dc a-z0-9A-Z)'),
    token: 'kindExecCredentialapiVersionclientauthenticationk8siov1specinteractivefalse',
  },
];
for (const single of ACCEPTED) {
  test(`a kubeconfig is read as kubectl reads it: ${single.name}`, async () => {
    const { caller, stderr, path } = await judge(single);
    const connection = await loadOwn(path);
    const { authorization } = await connection.credentials();
    const sorted = (text = ''): string => Array.from(text).sort().join('');
    // The order of JSON members is not part of KUBERNETES_EXEC_INFO.
    assert.equal(sorted(caller?.authorization), sorted(`Bearer ${single.token}`), stderr);
    assert.equal(sorted(authorization), sorted(`Bearer ${single.token}`));
  });
}

const REFUSED: readonly (Single & { readonly kubectl: RegExp; readonly ours: RegExp })[] = [
  {
    // kubectl calls it by http: the server, which expects TLS, ends the connection.
    name: 'a server without a scheme',
    cluster: () => ({ ...cluster(), server: new URL(server.url).host }),
    kubectl: /EOF|HTTP request to an HTTPS server|reset/,
    ours: /the server of the cluster of its context "x" has no scheme/,
  },
  {
    name: 'a CA beside insecure-skip-tls-verify',
    cluster: () => ({ ...cluster(), 'insecure-skip-tls-verify': true }),
    kubectl: /specifying a root certificates file with the insecure flag is not allowed/,
    ours: /insecure-skip-tls-verify beside a certificate-authority/,
  },
  {
    name: 'two CAs',
    cluster: () => ({ ...cluster(), 'certificate-authority-data': base64('CA') }),
    kubectl: /certificate-authority-data and certificate-authority are both specified/,
    ours: /certificate-authority and certificate-authority-data: remove one/,
  },
  {
    name: 'groups without a user to impersonate',
    user: { token: 't', 'as-groups': ['g'] },
    kubectl: /requesting uid, groups or user-extra for u without impersonating a user/,
    ours: /sets "as-groups", which is not supported/,
  },
  {
    name: 'a token and a password',
    user: { token: 't', username: 'u', password: 'p' },
    kubectl: /more than one authentication method found for u/,
    ours: /sets token and username: remove one/,
  },
  {
    name: 'a certificate without its key',
    user: { 'client-certificate-data': base64('certificate') },
    kubectl: /client-key-data or client-key must be specified for u/,
    ours: /a client certificate without its key/,
  },
  {
    name: 'a plugin that needs a terminal',
    user: plugin({ interactiveMode: 'Always' }),
    kubectl: /exec plugin cannot support interactive mode: standard input is not a terminal/,
    ours: /standard input is not a terminal: run the command on a terminal/,
  },
  {
    name: 'a plugin without interactiveMode',
    user: plugin({ interactiveMode: undefined }),
    kubectl: /interactiveMode must be specified for u/,
    ours: /exec without a known interactiveMode/,
  },
  {
    name: 'a plugin of an unknown version',
    user: plugin({ apiVersion: `${V1}alpha1` }),
    kubectl: /exec plugin: invalid apiVersion "client\.authentication\.k8s\.io\/v1alpha1"/,
    ours: /exec without a known apiVersion/,
  },
  {
    name: 'a plugin that answers in another version',
    user: plugin(),
    plugin: answering('t', `${V1}beta1`),
    kubectl: /is configured to use API version \S+\/v1, plugin returned version \S+\/v1beta1/,
    ours: /answered in \S+\/v1beta1, and its user sets exec\.apiVersion \S+\/v1:/,
  },
  {
    name: 'a plugin that answers without a kind',
    user: plugin(),
    plugin: `#!/bin/sh\necho '{"status":{"token":"t"}}'\n`,
    kubectl: /plugin returned version \S+\/__internal/,
    ours: /has no kind: ExecCredential/,
  },
  {
    name: 'a plugin and a provider',
    user: { ...plugin(), 'auth-provider': { name: 'oidc' } },
    kubectl: /authProvider cannot be provided in combination with an exec plugin for u/,
    ours: /sets exec and auth-provider: remove one/,
  },
];
for (const single of REFUSED) {
  test(`kubectl and this client refuse a kubeconfig with ${single.name}`, async () => {
    const { caller, stderr, path } = await judge(single);
    assert.equal(caller, undefined);
    assert.match(stderr, single.kubectl);
    await assert.rejects(async () => (await loadOwn(path)).credentials(), {
      code: 'KUBE_CONFIG',
      message: single.ours,
    });
  });
}
