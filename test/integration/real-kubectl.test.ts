// SPDX-License-Identifier: Apache-2.0
/** What the real kubectl makes of the credentials that commands write, and of those they read. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { parse } from 'yaml';
import type { Secret } from '#api/object/object.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { kubeconfigFromEnvironment } from '#app/component-options.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { findBinaries } from '../cluster/binaries.ts';
import { runKubectl, writeKubectl, type KubectlResult } from '../cluster/kubectl.ts';
import type { Version } from '../cluster/releases.ts';
import { fleetAnswers } from '../support/cluster/fleet-answers.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { startScriptedServer, type ScriptedServer } from '../support/kube/scripted-server.ts';
import { certificateDer } from '../support/pki/certificate-der.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

const VERSION = (process.env['COUNTERSIGN_TEST_VERSION'] ?? '1.37') as Version;
/** The server has no such address or name in its certificate, unless a test says otherwise. */
const NAME = 'kubernetes.default';

let server: ScriptedServer;
let ca: string;
let home: string;
let kubectl: string;
let directory: string;
let count = 0;

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'real-kubectl-'));
  const certificate = await tlsCertificate('server', { dnsNames: [NAME] });
  ca = certificate.cert;
  server = await startScriptedServer({
    ...certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const binaries = await findBinaries(VERSION, console.error);
  kubectl = writeKubectl(home, binaries('kubectl'), join(home, 'none'));
});
beforeEach(() => {
  directory = join(home, `${(count += 1)}`);
  mkdirSync(directory);
  server.always((call) => {
    call.answer(200, {});
  });
});
after(async () => {
  await server.stop();
  rmSync(home, { recursive: true });
});

/** The server by a name that its certificate lacks. */
const elsewhere = (): string => server.url.replace('127.0.0.1', 'localhost');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function write(name: string, content: unknown): string {
  const file = join(directory, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** What the server learned of its caller. */
interface Caller {
  readonly authorization: string | undefined;
  /** SHA-256 of the client certificate. */
  readonly certificate: string | undefined;
}

/** Calls the server with kubectl. Undefined if no call arrived. */
async function callBy(
  flags: readonly string[],
  program = kubectl,
): Promise<KubectlResult & { readonly caller: Caller | undefined }> {
  let caller: Caller | undefined;
  server.aside((call) => {
    if (call.path !== '/probe' || !(call.socket instanceof TLSSocket)) return false;
    const { raw } = call.socket.getPeerCertificate() as { readonly raw?: Buffer };
    const certificate = raw === undefined ? undefined : sha256(raw);
    caller = { authorization: call.headers.authorization, certificate };
    call.answer(200, {});
    return true;
  });
  const args = ['get', ...flags, '--raw', '/probe'];
  const result = await runKubectl(program, args, { timeout: 60_000, allowFailure: true });
  return { ...result, caller };
}

function sha256(der: Uint8Array): string {
  return createHash('sha256').update(der).digest('hex');
}

/** The kubeconfig of an administrator with a token. */
function administrator(cluster: object): string {
  return write('admin.kubeconfig', {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'of-the-administrator' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

/** Answers `countersign request` with a certificate for the key of the request. */
function answerRequests(): void {
  let created: CertificateSigningRequest | undefined;
  server.always((call) => {
    if (call.path.includes('signers')) {
      call.answer(403, { reason: 'Forbidden' });
      return;
    }
    if (call.method === 'POST') created = JSON.parse(call.body) as CertificateSigningRequest;
    const pem = Buffer.from(created?.spec.request ?? '', 'base64').toString();
    const status = (): object => {
      const { spki } = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST')).publicKey;
      return { certificate: base64(encodePem('CERTIFICATE', certificateDer({ spki }))) };
    };
    call.answer(200, { ...created, ...(call.method === 'GET' ? { status: status() } : {}) });
  });
}

/** What a cluster of a kubeconfig says of TLS, and whether kubectl trusts the server by it. */
const CLUSTERS: readonly (readonly [
  name: string,
  cluster: () => Readonly<Record<string, unknown>>,
  isTrusted: boolean,
])[] = [
  ['its CA', () => ({ server: server.url, 'certificate-authority-data': base64(ca) }), true],
  [
    'its CA and tls-server-name',
    () => ({
      server: elsewhere(),
      'certificate-authority-data': base64(ca),
      'tls-server-name': NAME,
    }),
    true,
  ],
  [
    'insecure-skip-tls-verify',
    () => ({ server: elsewhere(), 'insecure-skip-tls-verify': true }),
    true,
  ],
  [
    'insecure-skip-tls-verify and tls-server-name',
    () => ({ server: elsewhere(), 'insecure-skip-tls-verify': true, 'tls-server-name': NAME }),
    true,
  ],
];

for (const [name, cluster] of CLUSTERS) {
  test(`kubectl accepts what \`countersign request\` writes for a server by ${name}`, async () => {
    const kubeconfig = administrator(cluster());
    const given = await callBy(['--kubeconfig', kubeconfig]);
    assert.equal(given.caller?.authorization, 'Bearer of-the-administrator', given.stderr);
    answerRequests();
    const out = join(directory, 'out');
    const flags = ['--kubeconfig', kubeconfig, '--out', out];
    const request = ['request', '--signer', 'example.com/people', '--name', 'jane', ...flags];
    const { code, stderr } = await countersign(request);
    assert.equal(code, 0, stderr);
    const written = await callBy(['--kubeconfig', join(out, 'jane.kubeconfig')]);
    const { raw } = new X509Certificate(readFileSync(join(out, 'jane.crt')));
    assert.deepEqual(
      written.caller,
      { authorization: undefined, certificate: sha256(raw) },
      written.stderr,
    );
  });
}

test('kubectl rejects a server by another name than the kubeconfig was written for', async () => {
  const cluster = { server: elsewhere(), 'certificate-authority-data': base64(ca) };
  const { caller, stderr } = await callBy(['--kubeconfig', administrator(cluster)]);
  assert.equal(caller, undefined);
  assert.match(stderr, /certificate is valid for kubernetes\.default, not localhost/);
});

test('kubectl calls the hub with what fleet join writes, without --server', async () => {
  const cluster = { server: server.url, 'certificate-authority-data': base64(ca) };
  const kubeconfig = administrator(cluster);
  server.always(fleetAnswers('of-the-member'));
  const out = join(directory, 'member.yaml');
  const hub = ['--signer', 'fleet.example.com/members', '--kubeconfig', kubeconfig];
  const member = ['--member-signer', 'example.com/workload', '--out', out];
  const { code, stderr } = await countersign(['fleet', 'join', 'prod', ...hub, ...member]);
  assert.equal(code, 0, stderr);
  const { stringData = {} } = parse(readFileSync(out, 'utf8')) as Secret & {
    readonly stringData?: Readonly<Record<string, string>>;
  };
  const authority = write('ca.crt', stringData['ca.crt'] ?? '');
  const { caller, stderr: said } = await callBy([
    `--server=${stringData['server'] ?? ''}`,
    `--certificate-authority=${authority}`,
    `--token=${stringData['token'] ?? ''}`,
  ]);
  assert.deepEqual(caller, { authorization: 'Bearer of-the-member', certificate: undefined }, said);
});

/** Files of a KUBECONFIG, in its order. `tokenFile` and CA files are relative to their own file. */
interface Several {
  readonly name: string;
  readonly files: () => Readonly<Record<string, unknown>>;
  readonly order: readonly string[];
  readonly token: string;
}

const cluster = (authority = 'ca.crt'): object => ({
  server: server.url,
  'certificate-authority': authority,
});
const context = (user: string): object => ({ cluster: 'c', user });

const SEVERAL: readonly Several[] = [
  {
    name: 'cluster, user and context in a file each, with relative paths',
    files: () => ({
      'a/config': { clusters: [{ name: 'c', cluster: cluster() }] },
      'a/ca.crt': ca,
      'b/config': { users: [{ name: 'u', user: { tokenFile: 'token' } }] },
      'b/token': 'of-b\n',
      'c/config': { contexts: [{ name: 'x', context: context('u') }], 'current-context': 'x' },
    }),
    order: ['a/config', 'b/config', 'c/config'],
    token: 'of-b',
  },
  {
    name: 'two files that set current-context',
    files: () => ({
      'ca.crt': ca,
      first: {
        clusters: [{ name: 'c', cluster: cluster() }],
        users: [{ name: 'one', user: { token: 'of-one' } }],
        contexts: [{ name: 'x', context: context('one') }],
        'current-context': 'x',
      },
      second: {
        users: [{ name: 'two', user: { token: 'of-two' } }],
        contexts: [{ name: 'y', context: context('two') }],
        'current-context': 'y',
      },
    }),
    order: ['first', 'second'],
    token: 'of-one',
  },
  {
    name: 'two entries of one name, of which the second has a tokenFile',
    files: () => ({
      'ca.crt': ca,
      first: {
        users: [{ name: 'u', user: { token: 'of-first' } }],
        contexts: [{ name: 'x', context: context('u') }],
      },
      second: {
        clusters: [{ name: 'c', cluster: cluster() }],
        users: [{ name: 'u', user: { tokenFile: 'token' } }],
        'current-context': 'x',
      },
      token: 'of-second',
    }),
    order: ['first', 'second'],
    token: 'of-first',
  },
  {
    name: 'a file that is missing and one that is empty',
    files: () => ({
      'ca.crt': ca,
      empty: '',
      whole: {
        clusters: [{ name: 'c', cluster: cluster() }],
        users: [{ name: 'u', user: { tokenFile: './token' } }],
        contexts: [{ name: 'x', context: context('u') }],
        'current-context': 'x',
      },
      token: 'of-whole',
    }),
    order: ['missing', 'empty', 'whole'],
    token: 'of-whole',
  },
];

for (const { name, files, order, token } of SEVERAL) {
  test(`KUBECONFIG is read as kubectl reads it: ${name}`, async () => {
    for (const [file, content] of Object.entries(files())) {
      const kind = { apiVersion: 'v1', kind: 'Config' };
      write(file, typeof content === 'string' ? content : { ...kind, ...(content as object) });
    }
    const KUBECONFIG = order.map((file) => join(directory, file)).join(delimiter);
    const binaries = await findBinaries(VERSION, console.error);
    const program = writeKubectl(directory, binaries('kubectl'), KUBECONFIG);
    const { caller, stderr } = await callBy([], program);
    assert.equal(caller?.authorization, `Bearer ${token}`, stderr);
    const kubeconfig = kubeconfigFromEnvironment({ KUBECONFIG });
    const connection = await loadConnection({ kubeconfig, clock: Date.now });
    const { authorization, tls } = await connection.credentials();
    assert.deepEqual(
      [connection.server, authorization, tls.ca],
      [server.url, caller.authorization, ca],
    );
  });
}
