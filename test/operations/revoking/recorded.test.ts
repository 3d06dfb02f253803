// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign revoke` through the ledger: what no object has any more is found, and what cannot be
 * asked is said.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readRevocation, type Revocation } from '#api/revocation/revocation.ts';
import {
  revokeCertificates,
  sourcesOf,
  type RevokeCertificatesOptions,
  type RevokeReport,
} from '#cli/commands/revoke/run.ts';
import { withLedger } from '#cli/ledger-routes.ts';
import { objectOf } from '#ledger/ledger/api/object.ts';
import { parseFieldSelector } from '#ledger/ledger/api/selector.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { contentsOf, openSqlite, openStore, type LedgerRecord } from '#ledger/index.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { serialText } from '#ca/revocation/serial.ts';
import { NOW, leafInput, openAuthority } from '../../support/ca/issuing.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { appending, issuedRecord, naming } from '../../support/ledger/records.ts';
import { OPTIONS, SIGNER } from '../../support/requests/revoking.ts';
import { statusOf } from '../../support/signers/authority-status.ts';
import { changed, clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';

const HOUR = 3_600_000;
/** When it is revoked. */
const LATER = NOW + 60_000;
const ca = await openAuthority();
const gone = await openAuthority();
const GONE_CA = gone.facts.fingerprint;

async function leafOf(
  name: string,
  commonName = '',
  ends = NOW + HOUR,
  by = ca,
): Promise<Certificate> {
  const subject = { ...EMPTY_SUBJECT, commonName, dnsNames: [name] };
  const validity = { notBefore: NOW - 60_000, notAfter: ends };
  const prepared = prepare(
    leafInput(by, { subject, validity, random: (size) => randomBytes(size) }),
  );
  return decodeCertificate(await by.sign(prepared, new AbortController().signal));
}

const pods = await leafOf('web-0.example', '', NOW + HOUR, gone);
const former = await leafOf('web-0.example', '', NOW + 30_000);
const alices = await leafOf('alice.example', 'alice');
const managers = await leafOf('cm.example');
const ports = await leafOf('ledger.example');
const acmes = await leafOf('www.example');

const base64 = (leaf: Certificate): string => Buffer.from(leaf.raw).toString('base64');
const csr = { kind: 'CertificateSigningRequest', name: 'csr', uid: 'csr' };
const issued = (
  number: number,
  leaf: Certificate,
  more: Parameters<typeof issuedRecord>[1] = {},
): LedgerRecord =>
  issuedRecord(number, { certificate: base64(leaf), ca: ca.facts.fingerprint, ...more });
const RECORDS: readonly LedgerRecord[] = [
  issued(1, pods, { ca: GONE_CA }),
  issued(2, former, { requester: issuedRecord(1).requester }),
  issued(3, alices, { request: csr, requester: { user: { username: 'alice' } } }),
  issued(4, managers, {
    request: { kind: 'CertificateRequest', namespace: 'team-4', name: 'cm', uid: 'cm' },
    requester: { user: { username: 'cert-manager' } },
  }),
  issued(5, acmes, { signer: { name: 'example.com/public' }, request: csr, requester: {} }),
  {
    kind: 'authority',
    purpose: 'serving',
    key: 'authority/6',
    signer: { name: SIGNER },
    at: issuedRecord(6).at,
    component: issuedRecord(6).component,
    certificate: base64(ports),
    ca: ca.facts.fingerprint,
  },
  {
    kind: 'authority',
    purpose: 'ca',
    key: 'authority/7',
    signer: { name: SIGNER },
    at: issuedRecord(7).at,
    component: issuedRecord(7).component,
    certificate: Buffer.from(ca.facts.certificate.raw).toString('base64'),
    ca: ca.facts.fingerprint,
  },
];

const directory = mkdtempSync(join(tmpdir(), 'revoke-'));
const store = await openStore(openSqlite(join(directory, 'ledger.db')));
after(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});
await store.append(RECORDS.map(appending), { naming, now: NOW });

const LISTS: Readonly<Record<string, readonly object[]>> = {
  clustersigners: [
    {
      ...clusterSigner(changed(workloadSpec(), 'profile.crl', { validity: '24h' })),
      status: statusOf(ca),
    },
  ],
  certificatesigningrequests: [
    {
      metadata: { name: 'alices' },
      spec: { signerName: SIGNER, username: 'alice' },
      status: {
        certificate: Buffer.from(encodePem('CERTIFICATE', alices.raw)).toString('base64'),
      },
    },
  ],
  orders: [
    {
      metadata: { namespace: 'web', name: 'www-1-1' },
      spec: { signerRef: { kind: 'AcmeClusterSigner', name: 'public' } },
      status: { certificate: encodePem('CERTIFICATE', acmes.raw) },
    },
  ],
};

/** The records of a namespace, or all, as the aggregated API answers. */
async function recordsOf({ path, query = {} }: RequestInit): Promise<object> {
  const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
  const where = { now: LATER, ...(namespace === undefined ? {} : { namespace }) };
  const asked = parseFieldSelector(String(query['fieldSelector']), where);
  assert.ok(!('fault' in asked), JSON.stringify(asked));
  const { records } = await store.find({ ...asked, limit: 500 });
  return {
    metadata: {},
    items: records.map((each) => objectOf(each, contentsOf(each), new Map())),
  };
}

/** @param ledger - the status of each answer about records */
function cluster(ledger?: { readonly status: number; readonly message: string }): RecordedClient {
  const client = recordedClient();
  client.answer((request) => {
    const { method, path, body } = request;
    if (method === 'POST') return body;
    const plural = path.split('/').at(-1) ?? '';
    if (plural !== 'records')
      return { apiVersion: 'v1', kind: 'List', metadata: {}, items: LISTS[plural] ?? [] };
    if (ledger === undefined) return recordsOf(request);
    const { status, message } = ledger;
    throw new KubeError({ status, what: path, body: { message } });
  });
  return client;
}

interface Revoked {
  readonly report: RevokeReport;
  readonly written: readonly Revocation[];
  readonly asked: readonly string[];
}

async function revoked(
  options: Partial<RevokeCertificatesOptions>,
  client = cluster(),
): Promise<Revoked> {
  const all: RevokeCertificatesOptions = { ...OPTIONS, source: 'auto', ...options };
  const report = await revokeCertificates(client, sourcesOf(client, all, LATER), all, LATER);
  const posts = client.requests.filter(({ method }) => method === 'POST');
  return {
    report,
    written: posts.map(({ body }) => readRevocation(body as Revocation)),
    asked: client.requests.map(({ path }) => path).filter((path) => path.endsWith('/records')),
  };
}

const serials = ({ report }: Revoked): readonly string[] =>
  report.certificates.map(({ serial }) => serial);

test('finds a pod without a request by its record: CA, end and UID', async () => {
  const { report, written, asked } = await revoked({ pod: 'team-1/pod-1' });
  assert.deepEqual(written[0]?.spec.certificates, [
    {
      serial: serialText(pods.serial),
      authority: GONE_CA,
      notAfter: new Date(pods.notAfter).toISOString().replace('.000', ''),
    },
  ]);
  assert.deepEqual(written[0].spec.holders, [
    { pod: { namespace: 'team-1', name: 'pod-1', uid: 'pod-uid-1' } },
  ]);
  assert.deepEqual(report.certificates[0]?.sources, ['record 1-0']);
  // A team that reads its own records can ask.
  assert.ok(asked.every((path) => path.includes('/namespaces/team-1/')));
});

test('what has expired is asked of nobody and revoked by nobody', async () => {
  const found = await revoked({ serial: [serialText(former.serial)] });
  assert.deepEqual(serials(found), []);
  assert.equal(found.report.outcome, 'refused');
});

test('revokes a certificate known to object and ledger once; the plan names both', async () => {
  const { report, written } = await revoked({ user: 'alice' });
  assert.equal(written.length, 1);
  assert.deepEqual(
    report.certificates.map(({ sources }) => sources),
    [['csr alices', 'record 1-2']],
  );
  assert.deepEqual(written[0]?.spec.holders, [{ user: 'alice' }]);
});

test('the requester of a CertificateRequest is cert-manager, and no holder', async () => {
  assert.equal((await revoked({ user: 'cert-manager' })).report.outcome, 'refused');
  assert.deepEqual(serials(await revoked({ san: 'cm.example' })), [serialText(managers.serial)]);
});

test('a common name is found as a name of the certificate is', async () => {
  assert.deepEqual(serials(await revoked({ san: 'alice' })), [serialText(alices.serial)]);
  assert.deepEqual(serials(await revoked({ san: 'alice.example' })), [serialText(alices.serial)]);
});

test('a CA’s living certificates include those of our own ports, and no CA', async () => {
  const found = await revoked({ ca: ca.facts.fingerprint, source: 'ledger' });
  const expected = [alices, managers, ports].map(({ serial }) => serialText(serial));
  assert.deepEqual(serials(found).toSorted(), expected.toSorted());
  assert.deepEqual(serials(await revoked({ ca: GONE_CA })), [serialText(pods.serial)]);
});

test('a serial number that a record has needs no --signer, however it is written', async () => {
  const digits = Buffer.from(pods.serial).toString('hex').match(/../g) ?? [];
  const { written } = await revoked({ serial: [digits.join(':').toUpperCase()] });
  assert.equal(written[0]?.spec.signerName, SIGNER);
});

test('what is no serial number is refused, and the ledger is asked for nothing', async () => {
  const { report, asked } = await revoked({ serial: ['xyz'], signer: SIGNER });
  assert.match(report.refusals.join(), /1 to 40 hexadecimal digits/);
  assert.deepEqual(asked, []);
});

test('names the command that revokes an ACME certificate, which is on no CRL of ours', async () => {
  const { report } = await revoked({ san: 'www.example' });
  assert.equal(report.outcome, 'refused');
  assert.match(report.notes.join(), /countersign revoke order\/www-1-1 -n web$/);
});

test('without a ledger, searches live objects only, and reports that', async () => {
  const none = { status: 404, message: 'the server could not find the requested resource' };
  const { report } = await revoked({ user: 'alice' }, cluster(none));
  assert.deepEqual(report.certificates[0]?.sources, ['csr alices']);
  assert.match(report.searched.at(-1) ?? '', /^no ledger is installed/);
});

for (const [law, answer, says] of [
  [
    'does not answer',
    { status: 503, message: 'service unavailable' },
    /countersign check shows the cause/,
  ],
  ['may not be read', { status: 403, message: 'forbidden' }, /countersign-ledger-reader/],
] as const) {
  test(`a ledger that ${law} is an error: nothing is written, and it says what to do`, async () => {
    const client = cluster(answer);
    await assert.rejects(revoked({ user: 'alice' }, client), (error: Error) => {
      assert.match(error.message, says);
      assert.match(error.message, /Nothing was written\. .*--source live$/);
      return (error as { code?: string }).code === 'LEDGER_UNAVAILABLE';
    });
    assert.ok(client.requests.every(({ method }) => method !== 'POST'));
    const { report, asked } = await revoked({ user: 'alice', source: 'live' }, cluster(answer));
    assert.equal(report.outcome, 'written');
    assert.deepEqual(asked, []);
    assert.match(report.searched.at(-1) ?? '', /by --source live/);
  });
}

test('a dry run creates nothing to read a ledger, and reports that it was not read', async () => {
  const client = cluster();
  const served = recordedClient();
  served.answer((request) => {
    const { path } = request;
    if (path.includes('/proxy/')) throw new KubeError({ status: 401, what: path });
    if (!path.endsWith('/records')) return client.request(request);
    const body = { message: 'the server could not find the requested resource' };
    throw new KubeError({ status: 404, what: path, body });
  });
  const place = { namespace: 'countersign-system', userAgent: 'test', isDryRun: true };
  const routed = withLedger(served, place);
  const by = { ...served, request: <T>(init: RequestInit) => routed.request<T>(init) };
  const { report } = await revoked({ user: 'alice', dryRun: true }, by);
  assert.match(report.searched.join('\n'), /the ledger was not read: .*--dry-run creates nothing/);
  const posts = served.requests.filter(({ method }) => method !== 'GET');
  assert.deepEqual(
    posts.map(({ query }) => query?.['dryRun']),
    posts.map(() => 'All'),
  );
  const serial = [serialText(pods.serial)];
  for (const selection of [{ pod: 'team-1/pod-1' }, { serial }]) {
    const { report: none } = await revoked({ ...selection, dryRun: true }, by);
    assert.equal(none.outcome, 'refused');
    assert.match(
      none.refusals.join(),
      /ledger was not read, and may have one: .* without --dry-run/,
    );
    const { report: real } = await revoked(selection);
    assert.doesNotMatch(real.refusals.join(), /not read/);
  }
  await assert.rejects(
    revoked({ user: 'alice', dryRun: true, source: 'ledger' }, by),
    /the ledger was not read/,
  );
});
