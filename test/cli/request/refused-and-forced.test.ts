// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign request`, `approve` and `lint` against an API server that holds one request: the
 * files that remain, and what is written.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import type { ClusterSignerSpec } from '#api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { encodePem } from '#pki/der/pem.ts';
import { countersign } from '../../support/cluster/countersign.ts';
import type { DecisionReport } from '#operations/deciding/decide-request.ts';
import { openWrittenServer, type SilentServer } from '../../support/cluster/silent-server.ts';
import { csrOf, derOf, specOf } from '../../ca/policy/request.ts';
import { state } from '../../operations/signer-states.ts';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SIGNERS = '/apis/countersign.dev/v1alpha1/clustersigners';
const STATUS = { kind: 'Status', apiVersion: 'v1', status: 'Failure' };

interface Written {
  readonly method: string;
  readonly path: string;
  readonly body: CertificateSigningRequest;
}

interface ClusterParts {
  readonly spec?: ClusterSignerSpec;
  /** Answers a read in place of what is stored. */
  readonly readOf?: (path: string) => readonly [code: number, body: object] | undefined;
}

/** An API server with one signer without rules, and what the commands write to it. */
async function cluster(
  t: TestContext,
  answer: (written: Written) => readonly [code: number, body: object],
  request?: CertificateSigningRequest,
  { spec = specOf({ copy: ['commonName'] }), readOf = () => undefined }: ClusterParts = {},
): Promise<{ server: SilentServer; written: readonly Written[]; read: readonly string[] }> {
  const written: Written[] = [];
  const read: string[] = [];
  let stored: object | undefined = request;
  const signer = { ...state().signer, spec };
  const list = { apiVersion: 'countersign.dev/v1alpha1', kind: 'ClusterSignerList', metadata: {} };
  const reply = async (
    method: string,
    path: string,
    body: () => Promise<string>,
  ): Promise<readonly [number, object]> => {
    if (method !== 'GET') {
      const made = { method, path, body: JSON.parse(await body()) as CertificateSigningRequest };
      written.push(made);
      const [code, object] = answer(made);
      if (code < 300) stored = object;
      return [code, object];
    }
    read.push(path);
    const found = readOf(path);
    if (found !== undefined) return found;
    if (path === SIGNERS) return [200, { ...list, items: [signer] }];
    if (path.startsWith(`${CSRS}/`) && stored !== undefined) return [200, stored];
    return [404, { ...STATUS, code: 404, reason: 'NotFound' }];
  };
  const server = await openWrittenServer((incoming, response) => {
    const { pathname } = new URL(incoming.url ?? '', 'http://x');
    void reply(incoming.method ?? '', pathname, () => text(incoming)).then(([code, body]) => {
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  t.after(() => server.close());
  return { server, written, read };
}

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'countersign-request-'));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

const decidedAs = (type: string): readonly [number, object] => {
  const conditions = [{ type, status: 'True', reason: 'No', message: 'not you' }];
  return [200, { ...csrOf(''), status: { conditions } }];
};

/** What the API server makes of a request: it is decided or failed at once. */
const decided =
  (type: string) =>
  ({ body }: Written): readonly [number, object] => {
    const { creationTimestamp, uid } = csrOf('').metadata;
    const metadata = { ...body.metadata, creationTimestamp, uid };
    const conditions = [{ type, status: 'True', reason: 'No', message: 'not you' }];
    return [201, { ...body, metadata, status: { conditions } }];
  };

const ASK = ['request', '--signer', 'example.com/people', '--name', 'jane', '--out'];

for (const type of ['Denied', 'Failed']) {
  test(`a request that is ${type} leaves no key file`, async (t) => {
    const { server, written } = await cluster(t, decided(type));
    const out = directory(t);
    const { code, stderr } = await countersign([...ASK, out, '--kubeconfig', server.kubeconfig]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, new RegExp(`is ${type}: No: not you`));
    assert.equal(written.length, 1);
    assert.deepEqual(readdirSync(out), ['jane.lock']);
  });
}

test('a request that the API server rejects leaves no key file', async (t) => {
  const { server } = await cluster(t, () => [403, { ...STATUS, code: 403, reason: 'Forbidden' }]);
  const out = directory(t);
  const { code } = await countersign([...ASK, out, '--kubeconfig', server.kubeconfig]);
  assert.equal(code, 1);
  assert.deepEqual(readdirSync(out), ['jane.lock']);
});

test('a request that may have been created keeps its key file', async (t) => {
  const { server } = await cluster(t, () => [504, { ...STATUS, code: 504, reason: 'Timeout' }]);
  const out = directory(t);
  const { code } = await countersign([...ASK, out, '--kubeconfig', server.kubeconfig]);
  assert.equal(code, 1);
  assert.deepEqual(readdirSync(out), ['jane.key', 'jane.lock']);
});

/** RFC 5480 §3: an ECDSA key cannot encipher keys, so its leaf would have no usage. */
const HOPELESS = csrOf(encodePem('CERTIFICATE REQUEST', derOf({})), {
  usages: ['key encipherment'],
});
const stored = ({ body }: Written): readonly [number, object] => [200, { ...HOPELESS, ...body }];

test('a request that its signer would fail is approved by --force alone', async (t) => {
  const { server, written } = await cluster(t, stored, HOPELESS);
  const approve = ['approve', 'csr/jane-1', '--kubeconfig', server.kubeconfig];
  const refused = await countersign(approve);
  assert.notEqual(refused.code, 0, refused.stdout);
  assert.match(refused.stdout, /if approved, it fails: .*--force approves it nevertheless/s);
  assert.equal(written.length, 0);
  const forced = await countersign([...approve, '--force']);
  assert.equal(forced.code, 0, forced.stderr);
  assert.deepEqual(
    written.map(({ method, path }) => `${method} ${path}`),
    [`PUT ${CSRS}/jane-1/approval`],
  );
  assert.equal(written[0]?.body.status?.conditions?.[0]?.type, 'Approved');
});

/** localityName (RFC 5280 appendix A.1), which no leaf gets. */
const L = '2.5.4.7';

const SOUND = csrOf(encodePem('CERTIFICATE REQUEST', derOf({})), { usages: ['client auth'] });
const named = (signerName: string): CertificateSigningRequest => ({
  ...SOUND,
  spec: { ...SOUND.spec, signerName },
});
const echo = ({ body }: Written): readonly [number, object] => [200, { ...SOUND, ...body }];

test('a request that is named twice is decided once', async (t) => {
  const { server, written } = await cluster(t, echo, SOUND);
  const names = ['csr/jane-1', 'certificatesigningrequest/jane-1', 'csr/jane-1'];
  const args = ['deny', ...names, '-o', 'name', '--kubeconfig', server.kubeconfig];
  const { code, stdout, stderr } = await countersign(args);
  assert.equal(code, 0, stderr);
  assert.equal(written.length, 1);
  assert.equal(stdout, 'csr/jane-1\n');
});

/** The signer of the cluster is example.com/people. */
const UNANSWERED: readonly (readonly [signerName: string, says: RegExp])[] = [
  [
    'example.com/peple',
    /\(did you mean example\.com\/people\?\): no component of Countersign answers .* approved; cr/,
  ],
  ['signers.countersign.dev/team-a.web', /no component of Countersign answers/],
];

for (const [signerName, says] of UNANSWERED) {
  test(`a request for ${signerName}, which no signer has, is approved by --force alone`, async (t) => {
    const { server, written } = await cluster(t, echo, named(signerName));
    const approve = ['approve', 'csr/jane-1', '--kubeconfig', server.kubeconfig];
    const refused = await countersign(approve);
    assert.equal(refused.code, 3, refused.stdout);
    assert.match(refused.stdout, says);
    assert.match(refused.stdout, /--force approves it nevertheless/);
    assert.equal(written.length, 0);
    assert.equal((await countersign([...approve, '--force'])).code, 0);
    assert.equal(written.length, 1);
  });
}

/** Other programs serve these, and an administrator approves for them as well. */
const OF_OTHERS: readonly (readonly [signerName: string, says: RegExp])[] = [
  ['kubernetes.io/kubelet-serving', /Countersign does not serve .*: kube-controller-manager signs/],
  ['example.com/something-else', /the cluster has "example\.com\/people": Countersign does not an/],
  ['istio.example/workload', /approve it if another program serves that name/],
];

for (const [signerName, says] of OF_OTHERS) {
  test(`a request for ${signerName} is approved with a notice`, async (t) => {
    const { server, written } = await cluster(t, echo, named(signerName));
    const approve = ['approve', 'csr/jane-1', '--kubeconfig', server.kubeconfig];
    const { code, stdout, stderr } = await countersign(approve);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /before you approve it:/);
    assert.match(stdout, says);
    assert.equal(written.length, 1);
  });
}

test('a request of a signer for pods alone is approved by --force alone', async (t) => {
  const { requests: _, ...pods } = specOf({ copy: ['commonName'] });
  const { server, written } = await cluster(t, echo, SOUND, { spec: pods });
  const approve = ['approve', 'csr/jane-1', '--kubeconfig', server.kubeconfig];
  const refused = await countersign(approve);
  assert.equal(refused.code, 3, refused.stdout);
  assert.match(
    refused.stdout,
    /has no spec\.requests.*, not even approved ones; add spec\.requests/,
  );
  assert.equal(written.length, 0);
  assert.equal((await countersign([...approve, '--force'])).code, 0);
});

for (const [command, type] of [
  ['approve', 'Approved'],
  ['deny', 'Denied'],
] as const) {
  test(`${command} of several requests reports each, also after an error`, async (t) => {
    const conflict = { ...STATUS, code: 409, reason: 'Conflict', message: 'it was modified' };
    const decide = (made: Written): readonly [number, object] =>
      made.path.endsWith('/bob/approval') ? [409, conflict] : echo(made);
    const { server, written } = await cluster(t, decide, named('istio.example/workload'));
    const subjects = ['csr/alice', 'csr/bob', 'csr/carol'];
    const flags = ['-o', 'json', '--kubeconfig', server.kubeconfig];
    const { code, stdout, stderr } = await countersign([command, ...subjects, ...flags]);
    assert.equal(code, 1, stderr);
    assert.deepEqual(
      written.map(({ path }) => path),
      ['alice', 'bob', 'carol'].map((name) => `${CSRS}/${name}/approval`),
    );
    const reports = JSON.parse(stdout) as readonly DecisionReport[];
    assert.deepEqual(
      reports.map(({ object, outcome }) => [object, outcome]),
      [
        ['csr/alice', type],
        ['csr/carol', type],
      ],
    );
    assert.match(stderr, /1 of 3 requests failed: csr\/bob: .*409 Conflict: it was modified/);
    assert.match(stderr, /written: csr\/alice, csr\/carol/);
  });
}

test('a request waits while the API server is not available', async (t) => {
  let reads = 0;
  const leave = ({ body }: Written): readonly [number, object] => [201, body];
  const unavailable = { ...STATUS, code: 503, reason: 'ServiceUnavailable', message: 'no etcd' };
  const { server } = await cluster(t, leave, undefined, {
    readOf: (path) => {
      if (!path.startsWith(`${CSRS}/`)) return undefined;
      reads += 1;
      return reads === 1 ? [503, unavailable] : decidedAs('Denied');
    },
  });
  const out = directory(t);
  const { code, stdout, stderr } = await countersign([
    ...ASK,
    out,
    '--kubeconfig',
    server.kubeconfig,
  ]);
  assert.equal(code, 2, stderr);
  assert.match(stdout, /^waiting: GET .*503 ServiceUnavailable: no etcd$/m);
  assert.match(stderr, /is Denied: No: not you/);
});

test('a request that is deleted while it waits ends the command', async (t) => {
  const leave = ({ body }: Written): readonly [number, object] => [201, body];
  const { server } = await cluster(t, leave, undefined, {
    readOf: () => [404, { ...STATUS, code: 404, reason: 'NotFound' }],
  });
  const { code } = await countersign([...ASK, directory(t), '--kubeconfig', server.kubeconfig]);
  assert.equal(code, 1);
});

test('lint of a request in the cluster judges by its signer as well', async (t) => {
  const usages = ['digital signature', 'code signing'];
  const request = csrOf(encodePem('CERTIFICATE REQUEST', derOf({})), { usages });
  const { server, read } = await cluster(t, echo, request);
  const lint = ['lint', 'csr/jane-1', '--kubeconfig', server.kubeconfig];
  const { code, stdout } = await countersign(lint);
  assert.equal(code, 3, stdout);
  // A second reading could have another version, or none.
  assert.equal(read.filter((path) => path.startsWith(CSRS)).length, 1);
  assert.match(
    stdout,
    /^error: csr\/jane-1: if approved, it fails: .*"code signing".*signer-accepts/m,
  );
});

test('lint of a request in the cluster lists what its certificate would lack', async (t) => {
  const wanted = { usages: ['client auth'], dnsNames: ['a.example.com'] };
  const request = csrOf(encodePem('CERTIFICATE REQUEST', derOf(wanted)), wanted);
  const { server } = await cluster(t, echo, request);
  const lint = ['lint', 'csr/jane-1', '--kubeconfig', server.kubeconfig];
  const { code, stdout } = await countersign(lint);
  assert.equal(code, 0, stdout);
  assert.match(
    stdout,
    /^warning: csr\/jane-1: the certificate would have no dnsNames "a\.example/m,
  );
});

for (const type of ['Approved', 'Denied', 'Failed'] as const) {
  test(`lint of a request that is ${type} does not list what its certificate would lack`, async (t) => {
    const wanted = { usages: ['client auth'], dnsNames: ['a.example.com'] };
    const request = csrOf(encodePem('CERTIFICATE REQUEST', derOf(wanted)), wanted);
    const conditions = [{ type, status: 'True', reason: 'No', message: 'not you' } as const];
    const { server } = await cluster(t, echo, { ...request, status: { conditions } });
    const lint = ['lint', 'csr/jane-1', '--strict', '--kubeconfig', server.kubeconfig];
    const { code, stdout } = await countersign(lint);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /1 linted: 0 errors, 0 warnings/);
  });
}

for (const [what, wanted, says] of [
  ['alone', {}, /1 linted: 1 error, 0 warnings/],
  ['beside a warning', { subject: [[L, 'x']] }, /1 linted: 1 error, 1 warning$/m],
  [
    'beside a refusal of this signer',
    { usages: ['client auth', 'code signing'] },
    /1 linted: 2 errors, 0 warnings/,
  ],
] as const) {
  test(`lint does not repeat what every signer refuses, ${what}`, async (t) => {
    const all = { usages: ['client auth'], dnsNames: ['A.example.com'], ...wanted };
    const request = csrOf(encodePem('CERTIFICATE REQUEST', derOf(all)), all);
    const spec = specOf({ copy: ['commonName', 'dnsNames'] });
    const { server } = await cluster(t, echo, request, { spec });
    const { stdout } = await countersign(['lint', 'csr/jane-1', '--kubeconfig', server.kubeconfig]);
    assert.match(stdout, says);
    assert.equal(stdout.split('"A.example.com"').length, 2, stdout);
  });
}
