// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import type { Connection } from '#kube/client/connection.ts';
import { contextNames, loadConnection } from '#kube/client/kubeconfig.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';

let directory: string;
before(() => (directory = mkdtempSync(join(tmpdir(), 'countersign-kubeconfig-'))));
after(() => {
  rmSync(directory, { recursive: true });
});

let files = 0;

function write(text: string, name = `${(files += 1)}.yaml`): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly contextUser?: string;
}

/** A kubeconfig with one cluster, one user and the context `main`. JSON is YAML. */
function kubeconfig({
  cluster = {},
  user = { token: 't' },
  contextUser = 'me',
}: Parts = {}): string {
  return write(
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/', ...cluster } }],
      users: [{ name: 'me', user }],
      contexts: [{ name: 'main', context: { cluster: 'c', user: contextUser } }],
      'current-context': 'main',
    }),
  );
}

const { clock } = fakeTime();
const load = (path: string, context?: string): Promise<Connection> =>
  loadConnection({ kubeconfig: path, context, clock, environment: process.env });

test('server, CA and token come from the current context', async () => {
  const ca = Buffer.from('the CA').toString('base64');
  const path = kubeconfig({
    cluster: { 'certificate-authority-data': ca, 'tls-server-name': 'api' },
  });
  const connection = await load(path);
  assert.equal(connection.server, 'https://127.0.0.1:6443');
  assert.deepEqual(await connection.credentials(), {
    tls: { ca: 'the CA', servername: 'api' },
    authorization: 'Bearer t',
  });
});

test('a client certificate sets no Authorization header', async () => {
  const user = { 'client-certificate-data': 'Y2VydA==', 'client-key-data': 'a2V5' };
  const connection = await load(kubeconfig({ user }));
  assert.deepEqual(await connection.credentials(), { tls: { cert: 'cert', key: 'key' } });
});

test('a user name and password become basic authentication', async () => {
  const connection = await load(kubeconfig({ user: { username: 'u', password: 'p' } }));
  assert.equal((await connection.credentials()).authorization, 'Basic dTpw');
});

test('files are relative to the kubeconfig and are read again', async () => {
  const time = fakeTime();
  write('first\n', 'token');
  write('CA 1', 'ca.crt');
  const path = kubeconfig({
    cluster: { 'certificate-authority': 'ca.crt' },
    user: { tokenFile: 'token' },
  });
  const connection = await loadConnection({ kubeconfig: path, clock: time.clock });
  const first = await connection.credentials();
  assert.deepEqual(first, { tls: { ca: 'CA 1' }, authorization: 'Bearer first' });
  write('second', 'token');
  write('CA 2', 'ca.crt');
  assert.equal(await connection.credentials(), first);
  await time.advance(60_000);
  assert.deepEqual(await connection.credentials(), {
    tls: { ca: 'CA 2' },
    authorization: 'Bearer second',
  });
});

// client-go: "read empty token from file". Without the header the API server would take us for
// system:anonymous.
for (const empty of ['', '\n']) {
  test(`an empty token file (${JSON.stringify(empty)}) makes no call without a token`, async () => {
    const time = fakeTime();
    write('first', 'token');
    const path = kubeconfig({ user: { tokenFile: 'token' } });
    let unreadable = 0;
    const onUnreadable = (): void => void (unreadable += 1);
    const connection = await loadConnection({ kubeconfig: path, clock: time.clock, onUnreadable });
    const first = await connection.credentials();
    write(empty, 'token');
    await time.advance(60_000);
    assert.equal(await connection.credentials(), first, 'the previous token stays in use');
    assert.equal(unreadable, 1);
    connection.invalidate(first);
    await assert.rejects(connection.credentials(), {
      code: 'KUBE_CONFIG',
      disposition: 'wait',
      message: /has neither a token nor a client certificate at the moment/,
    });
    write('second', 'token');
    assert.equal((await connection.credentials()).authorization, 'Bearer second');
  });
}

test('a context can be selected by name', async () => {
  const path = kubeconfig();
  await assert.rejects(load(path, 'other'), {
    code: 'KUBE_CONFIG',
    disposition: 'wait',
    message: `the kubeconfig ${path} cannot be used: it has no context "other" with a cluster`,
  });
  assert.ok(await load(path, 'main'));
});

test('an error names its context, which may be the current one of the file', async () => {
  const path = kubeconfig({ user: {} });
  const reason =
    'its context "main" has no user with credentials ("me" has none that are supported)';
  await assert.rejects(load(path), {
    message: `the kubeconfig ${path} cannot be used: ${reason}`,
  });
  const without = write('{clusters: [], users: [], contexts: []}');
  await assert.rejects(load(without), { message: /: it has no current-context with a cluster$/ });
});

/** The environment of a user whose home directory has no kubeconfig. */
function withEnvironment(t: TestContext, KUBECONFIG: string): void {
  const { HOME, KUBECONFIG: before = '' } = process.env;
  t.after(() => {
    Object.assign(process.env, { HOME, KUBECONFIG: before });
  });
  Object.assign(process.env, { HOME: directory, KUBECONFIG });
}

const DEFAULT = 'the default kubeconfig (KUBECONFIG, else ~/.kube/config) cannot be used';
const inPod = existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token');

test(
  'without any kubeconfig the error says where one was looked for',
  { skip: inPod },
  async (t) => {
    withEnvironment(t, '');
    await assert.rejects(loadConnection({ clock }), {
      code: 'KUBE_CONFIG',
      message: `${DEFAULT}: there is none, and this is not a pod with a ServiceAccount`,
    });
  },
);

/** Parts of a kubeconfig, each in a file of its own. */
const CLUSTERS = { clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443' } }] };
const contextOf = (user: string): object => ({
  contexts: [{ name: user, context: { cluster: 'c', user } }],
  'current-context': user,
});
const userOf = (name: string, user: object): object => ({ users: [{ name, user }] });

// client-go, ClientConfigLoadingRules.Load: "the first file to set a particular map key wins".
for (const [what, files] of [
  ['another current-context', [contextOf('me'), contextOf('other')]],
  ['another user of this name', [contextOf('me'), userOf('me', { token: 'second' })]],
] as const) {
  test(`of several files in KUBECONFIG the first wins: ${what}`, async () => {
    const all = [
      { ...CLUSTERS, ...userOf('me', { token: 'first' }), ...contextOf('me') },
      ...files,
    ];
    const several = all.map((file) => write(JSON.stringify(file)));
    const connection = await loadConnection({ kubeconfig: several, clock });
    const { authorization } = await connection.credentials();
    assert.equal(authorization, 'Bearer first');
  });
}

test('of several files in KUBECONFIG one has the tokenFile, relative to itself', async () => {
  write('of the file', 'own-token');
  const users = write(JSON.stringify(userOf('me', { tokenFile: 'own-token' })));
  const other = write(JSON.stringify({ ...CLUSTERS, ...contextOf('me') }));
  const several = [other, join(directory, 'missing'), write(''), users];
  const connection = await loadConnection({ kubeconfig: several, clock });
  const { authorization } = await connection.credentials();
  assert.equal(authorization, 'Bearer of the file');
});

test('of several files in KUBECONFIG none exists: the error says so', async () => {
  const several = ['none', 'neither'].map((name) => join(directory, name));
  await assert.rejects(loadConnection({ kubeconfig: several, clock }), {
    message: `${DEFAULT}: none of its files exists`,
  });
});

test('where KUBECONFIG names several files, an error says so, and names the context', async () => {
  const several = [kubeconfig(), write('{clusters: [], contexts: []}')];
  await assert.rejects(loadConnection({ kubeconfig: several, clock, context: 'other' }), {
    message: `${DEFAULT}: it has no context "other" with a cluster`,
  });
  assert.ok(await loadConnection({ kubeconfig: several, clock }));
});

test('an incomplete entry that the context does not name hinders nothing', async () => {
  const path = kubeconfig();
  const file = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object[]>;
  for (const broken of [{ name: 'gone' }, { name: 'gone', cluster: {} }, null]) {
    for (const list of ['clusters', 'contexts', 'users']) {
      const others = { ...file, [list]: [broken, ...(file[list] ?? [])] };
      assert.ok(await load(write(JSON.stringify(others))), list);
    }
  }
});

test('the contexts of several files are those of each', async () => {
  const other = write(JSON.stringify(contextOf('other')));
  assert.deepEqual(await contextNames([kubeconfig(), other]), ['main', 'other']);
  assert.deepEqual(await contextNames(undefined), []);
});

// kubectl calls host:port by http and without credentials, whatever else the kubeconfig has.
const notUrls = ['127.0.0.1:6443', 'localhost:6443', 'https://', 'ftp://host', 'host/a', 'a b'];
for (const server of notUrls) {
  test(`the server "${server}" is refused, and the error has a remedy`, async () => {
    const cluster = { server, 'certificate-authority-data': 'Y2E=' };
    await assert.rejects(load(kubeconfig({ cluster })), {
      code: 'KUBE_CONFIG',
      message:
        /the server of the cluster of its context "main" has no scheme or is no URL: write one such as https:/,
    });
  });
}

const refused: readonly [what: string, parts: Parts, message: RegExp][] = [
  ['a proxy', { cluster: { 'proxy-url': 'http://p:1' } }, /sets proxy-url, which is not supported/],
  // Ignored, it would make us the mightier user who may impersonate.
  ['impersonation', { user: { token: 't', as: 'weaker' } }, /sets "as", which is not supported/],
  [
    'other groups',
    { user: { token: 't', 'as-groups': ['weaker'] } },
    /the user of its context "main" sets "as-groups", which is not supported/,
  ],
  [
    'no credentials',
    { user: {} },
    /has no user with credentials \("me" has none that are supported\)/,
  ],
  ['an unknown user', { contextUser: 'nobody' }, /has no user with credentials/],
];
for (const [what, parts, message] of refused) {
  test(`a kubeconfig with ${what} is refused: it would change the identity silently`, async () => {
    await assert.rejects(load(kubeconfig(parts)), { code: 'KUBE_CONFIG', message });
  });
}

const V1 = 'client.authentication.k8s.io/v1';
const exec = { apiVersion: V1, command: 'true', interactiveMode: 'Never' };
// client-go, clientcmd/validation.go and transport.TLSConfigFor.
const contradictory: readonly [what: string, parts: Parts, message: RegExp][] = [
  [
    'a CA beside insecure-skip-tls-verify',
    { cluster: { 'certificate-authority-data': 'Y2E=', 'insecure-skip-tls-verify': true } },
    /sets insecure-skip-tls-verify beside a certificate-authority/,
  ],
  [
    'two CAs',
    { cluster: { 'certificate-authority-data': 'Y2E=', 'certificate-authority': 'ca.crt' } },
    /sets certificate-authority and certificate-authority-data: remove one/,
  ],
  [
    'a token and a password',
    { user: { token: 't', username: 'u', password: 'p' } },
    /sets token and username: remove one/,
  ],
  [
    'a certificate without a key',
    { user: { 'client-certificate-data': 'YQ==' } },
    /sets a client certificate without its key: add/,
  ],
  [
    'a plugin and a provider',
    { user: { exec, 'auth-provider': { name: 'oidc' } } },
    /sets exec and auth-provider: remove one/,
  ],
  ['a plugin without a command', { user: { exec: {} } }, /sets exec without a command: add/],
  [
    'a plugin of version v1alpha1',
    { user: { exec: { ...exec, apiVersion: `${V1}alpha1` } } },
    /sets exec without a known apiVersion: write client\.authentication\.k8s\.io\/v1 or/,
  ],
  [
    'a plugin without interactiveMode',
    { user: { exec: { ...exec, interactiveMode: undefined } } },
    /sets exec without a known interactiveMode: write Never, IfAvailable, Always/,
  ],
];
for (const [what, parts, message] of contradictory) {
  test(`a kubeconfig with ${what} is refused, as kubectl refuses it`, async () => {
    await assert.rejects(load(kubeconfig(parts)), { code: 'KUBE_CONFIG', message });
  });
}

/** Returns a user of `auth-provider: oidc`, whose ID token expires then. */
function oidcUser(expiry: number): { readonly user: object; readonly idToken: string } {
  const claims = Buffer.from(JSON.stringify({ exp: expiry / 1000 })).toString('base64url');
  const idToken = `e30.${claims}.c2ln`;
  const config = {
    'client-id': 'c',
    'id-token': idToken,
    'refresh-token': 'r',
    'idp-issuer-url': 'https://issuer.invalid',
  };
  return { user: { 'auth-provider': { name: 'oidc', config } }, idToken };
}

test('an OIDC ID token authenticates until it expires, and the error has a remedy', async () => {
  // client-node compares its expiry with the time of the machine.
  const { clock, advance } = fakeTime(Date.now());
  const { user, idToken } = oidcUser(clock() + 3_600_000);
  const kept = kubeconfig({ user });
  const connection = await loadConnection({ kubeconfig: kept, clock });
  assert.equal((await connection.credentials()).authorization, `Bearer ${idToken}`);
  await advance(3_601_000);
  await assert.rejects((await loadConnection({ kubeconfig: kept, clock })).credentials(), {
    code: 'KUBE_CONFIG',
    message:
      /the id-token of its user "me" expired at 20\S+Z, and auth-provider "oidc" is not refreshed: log in again, or use an exec plugin/,
  });
});

test('the error for a missing or malformed kubeconfig names the file', async () => {
  const missing = join(directory, 'missing');
  await assert.rejects(load(missing), {
    code: 'KUBE_CONFIG',
    message: new RegExp(
      `the kubeconfig ${missing} cannot be used: cannot open ${missing}: there is no such file`,
    ),
  });
  await assert.rejects(load(write('clusters: [{name: c}]')), {
    code: 'KUBE_CONFIG',
    message: /it has no current-context with a cluster/,
  });
  await assert.rejects(load(write('a: [')), { code: 'KUBE_CONFIG' });
  await assert.rejects(load(write('')), { code: 'KUBE_CONFIG' });
});

test('no error shows secrets from the file or from the output of a plugin', async () => {
  const secretless = (error: Error): boolean => {
    assert.doesNotMatch(inspect(error), /s3cret/);
    return true;
  };
  const broken = write('users: [{name: me, user: {token: s3cret}}, {]');
  await assert.rejects(load(broken), secretless);
  for (const text of ['token: *s3cret', '@s3cret', '"a": s3cret\n }s3cret', '{token: s3cret']) {
    await assert.rejects(load(write(text)), secretless);
  }
  const user = { exec: { ...exec, command: 'echo', args: ['s3cret'] } };
  const connection = await load(kubeconfig({ user }));
  await assert.rejects(connection.credentials(), secretless);
  await assert.rejects(connection.credentials(), {
    code: 'KUBE_CONFIG',
    message: /the output of its exec plugin is not JSON/,
  });
});
