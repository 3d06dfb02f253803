// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { parse, stringify } from 'yaml';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { renderKubeconfig } from '#cli/commands/request/kubeconfig-file.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { certificateDer } from '../support/pki/certificate-der.ts';
import { startScriptedServer, type ScriptedServer } from '../support/kube/scripted-server.ts';

/** client-go's `clientcmd/api/v1` Config, as far as it is written. */
interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: Record<string, string> }[];
  readonly users: readonly { readonly name: string; readonly user: Record<string, string> }[];
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly 'current-context': string;
}

const INPUT = {
  server: 'https://10.0.0.1:6443',
  certificateAuthority: 'CA',
  user: 'jane',
  certificate: 'CERTIFICATE',
  key: 'KEY',
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('the kubeconfig holds all that kubectl needs, and its references resolve', () => {
  const written = parse(renderKubeconfig(INPUT)) as Kubeconfig;
  const context = written.contexts.find(({ name }) => name === written['current-context'])?.context;
  const cluster = written.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = written.users.find(({ name }) => name === context?.user)?.user;
  assert.deepEqual(cluster, { server: INPUT.server, 'certificate-authority-data': base64('CA') });
  assert.deepEqual(user, {
    'client-certificate-data': base64('CERTIFICATE'),
    'client-key-data': base64('KEY'),
  });
});

for (const cluster of [
  { 'certificate-authority-data': base64('CA') },
  { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'kubernetes' },
  { 'insecure-skip-tls-verify': true },
  { 'insecure-skip-tls-verify': true, 'tls-server-name': 'kubernetes' },
  { 'tls-server-name': 'kubernetes' },
  {},
]) {
  test(`verifies the server as read: ${Object.keys(cluster).join()}`, async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
    t.after(() => {
      rmSync(home, { recursive: true });
    });
    const tlsOf = async (name: string, text: string): Promise<object> => {
      const file = join(home, name);
      writeFileSync(file, text);
      const {
        cert: _,
        key: __,
        ...tls
      } = await loadConnection({
        kubeconfig: file,
        clock: Date.now,
      }).then(async (connection) => (await connection.credentials()).tls);
      return tls;
    };
    const given = {
      clusters: [{ name: 'c', cluster: { server: INPUT.server, ...cluster } }],
      users: [{ name: 'me', user: { token: 't' } }],
      contexts: [{ name: 'main', context: { cluster: 'c', user: 'me' } }],
      'current-context': 'main',
    };
    const read = (await tlsOf('read', stringify(given))) as {
      ca?: string;
      servername?: string;
      rejectUnauthorized?: boolean;
    };
    const written = renderKubeconfig({
      ...INPUT,
      certificateAuthority: read.ca,
      tlsServerName: read.servername,
      insecureSkipTlsVerify: read.rejectUnauthorized === false,
    });
    assert.deepEqual(await tlsOf('written', written), read);
    assert.deepEqual((parse(written) as Kubeconfig).clusters[0]?.cluster, {
      server: INPUT.server,
      ...cluster,
    });
  });
}

// client-go: "specifying a root certificates file with the insecure flag is not allowed".
test('without verification no CA is written, which kubectl would reject', () => {
  const { clusters } = parse(
    renderKubeconfig({ ...INPUT, insecureSkipTlsVerify: true }),
  ) as Kubeconfig;
  assert.deepEqual(clusters[0]?.cluster, {
    server: INPUT.server,
    'insecure-skip-tls-verify': true,
  });
});

test('a server with a certificate of a public CA needs no certificate-authority-data', () => {
  const text = renderKubeconfig({ ...INPUT, certificateAuthority: undefined });
  const { clusters } = parse(text) as Kubeconfig;
  assert.deepEqual(clusters[0]?.cluster, { server: INPUT.server });
});

for (const user of ['yes', '007', 'a: b', 'x # y', '"', "o'neill", '\u{1f511}', 'a\nusers: []']) {
  test(`a username stays a string in YAML: ${JSON.stringify(user)}`, () => {
    const { users, 'current-context': current } = parse(
      renderKubeconfig({ ...INPUT, user }),
    ) as Kubeconfig;
    assert.deepEqual([users.length, users[0]?.name, current], [1, user, user]);
  });
}

let server: ScriptedServer;
let directory: string;
let created: CertificateSigningRequest | undefined;
/** What {@link signed} made of it last. */
let certificate = '';

beforeEach(async () => {
  server = await startScriptedServer();
  directory = mkdtempSync(join(tmpdir(), 'request-'));
  created = undefined;
});
afterEach(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

/** PEM of a certificate for the key of the request that was made. */
function signed(): string {
  const pem = Buffer.from(created?.spec.request ?? '', 'base64').toString();
  const { spki } = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST')).publicKey;
  certificate = encodePem('CERTIFICATE', certificateDer({ spki }));
  return certificate;
}

type Status = CertificateSigningRequest['status'];

/**
 * `countersign request` against a server that answers with this status, or with what it makes of
 * the request.
 */
function run(
  status: Status | (() => Status),
  refusal?: { readonly status: number; readonly reason: string },
  flags: readonly string[] = [],
): Promise<CommandResult> {
  server.always((call) => {
    if (refusal !== undefined) {
      call.answer(refusal.status, { reason: refusal.reason });
      return;
    }
    // The requester may not read signers.
    if (call.path.includes('signers')) {
      call.answer(403, { reason: 'Forbidden' });
      return;
    }
    if (call.method === 'POST') created = JSON.parse(call.body) as CertificateSigningRequest;
    const answered = typeof status === 'function' ? status : (): Status => status;
    call.answer(200, { ...created, ...(call.method === 'GET' ? { status: answered() } : {}) });
  });
  const kubeconfig = join(directory, 'admin.kubeconfig');
  const clusters = [
    { name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } },
  ];
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
  const users = [{ name: 'u', user: { token: 'none' } }];
  const config = { apiVersion: 'v1', kind: 'Config', clusters, contexts, users };
  writeFileSync(kubeconfig, stringify({ ...config, 'current-context': 'x' }));
  const asked = ['--signer', 'example.com/people', '--name', 'jane/../x', '--group', 'dev'];
  const out = join(directory, 'out');
  return countersign(['request', ...asked, '--kubeconfig', kubeconfig, '--out', out, ...flags]);
}

for (const [flags, kept] of [
  [[], /Its key is in \S+\.key\. Once/],
  [['--renew'], /Its key is in \S+\.next\.key, until the next --renew replaces it\. Once/],
] as const) {
  test(`a request that times out names the file of its key: ${flags.join()}`, async () => {
    const { code, stderr } = await run({}, undefined, ['--timeout', '1s', ...flags]);
    assert.deepEqual([code, kept.test(stderr)], [2, true], stderr);
  });
}

test('key, certificate and kubeconfig have mode 0600 and lie in --out', async () => {
  const { code, stderr } = await run(() => ({ certificate: base64(signed()) }));
  assert.deepEqual([code, stderr], [0, '']);
  const out = join(directory, 'out');
  const files = readdirSync(out).sort();
  const names = ['crt', 'key', 'kubeconfig', 'lock'].map((each) => `jane_.._x.${each}`);
  assert.deepEqual(files, names);
  for (const file of files) assert.equal(statSync(join(out, file)).mode & 0o777, 0o600, file);
  const { users } = parse(readFileSync(join(out, 'jane_.._x.kubeconfig'), 'utf8')) as Kubeconfig;
  const key = Buffer.from(users[0]?.user['client-key-data'] ?? '', 'base64').toString();
  assert.equal(key, readFileSync(join(out, 'jane_.._x.key'), 'utf8'));
  assert.equal(users[0]?.user['client-certificate-data'], base64(certificate));
  const pem = Buffer.from(created?.spec.request ?? '', 'base64').toString();
  const request = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
  assert.doesNotThrow(() => verifyRequest(request));
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  assert.deepEqual(Buffer.from(request.publicKey.spki), spki);
  assert.ok(!JSON.stringify(server.calls.map(({ body }) => body)).includes('PRIVATE'));
});

test('an existing key is neither overwritten nor used for another request', async () => {
  const out = join(directory, 'out');
  mkdirSync(out);
  writeFileSync(join(out, 'jane_.._x.key'), 'of a request that waits');
  const { code, stderr } = await run({ certificate: base64('CERTIFICATE') });
  assert.notEqual(code, 0);
  assert.match(
    stderr,
    /jane_\.\._x\.key exists, from an earlier request, and is never overwritten; --renew .*--out/,
  );
  assert.equal(readFileSync(join(out, 'jane_.._x.key'), 'utf8'), 'of a request that waits');
  assert.deepEqual(
    server.calls.filter(({ method }) => method !== 'GET'),
    [],
  );
});

test('no key remains when the request was not created', async () => {
  const { code, stderr } = await run({}, { status: 403, reason: 'Forbidden' });
  assert.notEqual(code, 0);
  assert.match(stderr, /403/);
  assert.deepEqual(readdirSync(join(directory, 'out')), ['jane_.._x.lock']);
});

test('a file that others could read is replaced by one that they cannot', async () => {
  const out = join(directory, 'out');
  mkdirSync(out);
  writeFileSync(join(out, 'jane_.._x.kubeconfig'), 'old', { mode: 0o644 });
  assert.equal((await run(() => ({ certificate: base64(signed()) }))).code, 0);
  assert.equal(statSync(join(out, 'jane_.._x.kubeconfig')).mode & 0o777, 0o600);
});

test('a certificate for another key is not written', async () => {
  const other = encodePem('CERTIFICATE', certificateDer());
  const { code, stderr } = await run({ certificate: base64(other) });
  assert.notEqual(code, 0);
  assert.match(stderr, /it is for another key; the key is kept, and nothing else was written/);
  assert.deepEqual(readdirSync(join(directory, 'out')), ['jane_.._x.key', 'jane_.._x.lock']);
});

for (const type of ['Denied', 'Failed']) {
  test(`${type}: prints the reason, exits with an error, and leaves no file`, async () => {
    const why = { type, status: 'True' as const, reason: 'NotYou', message: 'not today' };
    const { code, stderr } = await run({ conditions: [why] });
    assert.notEqual(code, 0);
    assert.match(stderr, new RegExp(`is ${type}: NotYou: not today`));
    assert.deepEqual(readdirSync(join(directory, 'out')), ['jane_.._x.lock']);
  });
}
