// SPDX-License-Identifier: Apache-2.0
/** `countersign revoke`: what is found, what is written, and what is said of it. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { readRevocation, type Revocation } from '#api/revocation/revocation.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { READER_SIGNER } from '#api/signer/own-tls.ts';
import { revocableObject } from '#cli/commands/revoke/named-object.ts';
import {
  revokeCertificates,
  sourcesOf,
  withObject,
  type RevokeCertificatesOptions,
} from '#cli/commands/revoke/run.ts';
import { accessNote } from '#operations/revoking/api-server.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { serialText } from '#ca/revocation/serial.ts';
import { NOW, leafInput, openAuthority } from '../../support/ca/issuing.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { statusOf } from '../../support/signers/authority-status.ts';
import { clusterSigner, changed, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const SIGNER = 'example.com/workload';
const ca = await openAuthority();

async function leafOf(name: string, by: Authority = ca): Promise<Certificate> {
  const subject = { ...EMPTY_SUBJECT, dnsNames: [name] };
  const prepared = prepare(leafInput(by, { subject, random: (size) => randomBytes(size) }));
  return decodeCertificate(await by.sign(prepared, new AbortController().signal));
}

const [pods, alices, managers] = [
  await leafOf('web-0.example'),
  await leafOf('alice.example'),
  await leafOf('cm.example'),
];
/** A client certificate as the API server reads it: CN is the user, O are the groups. */
async function clientOf(commonName: string, ...organizations: string[]): Promise<Certificate> {
  const subject = { ...EMPTY_SUBJECT, commonName, organizations };
  const prepared = prepare(leafInput(ca, { subject, random: (size) => randomBytes(size) }));
  return decodeCertificate(await ca.sign(prepared, new AbortController().signal));
}

const pem = (leaf: Certificate): string => encodePem('CERTIFICATE', leaf.raw);
const base64 = (leaf: Certificate): string => Buffer.from(pem(leaf)).toString('base64');

const LISTS: Readonly<Record<string, readonly object[]>> = {
  clustersigners: [
    {
      ...clusterSigner(changed(workloadSpec(), 'profile.crl', { validity: '24h' })),
      status: statusOf(ca),
    },
  ],
  certificatesigningrequests: [
    { spec: { signerName: SIGNER, username: 'alice' }, status: { certificate: base64(alices) } },
    {
      spec: { signerName: 'kubernetes.io/kubelet-serving', username: 'alice' },
      status: { certificate: base64(pods) },
    },
    { spec: { signerName: SIGNER, username: 'alice' }, status: { certificate: 'bm90aGluZw==' } },
    // The pass of a ledger's reader, which gets no certificate and is not counted.
    { spec: { signerName: READER_SIGNER, username: 'alice' } },
  ],
  podcertificaterequests: [
    {
      spec: { signerName: SIGNER, podName: 'web-0', podUID: 'pod-1' },
      status: { certificateChain: pem(pods) },
    },
  ],
  certificaterequests: [
    {
      spec: {
        issuerRef: { group: 'countersign.dev', kind: 'ClusterSigner', name: 'workload' },
        username: 'alice',
      },
      status: { certificate: base64(managers) },
    },
  ],
};

function cluster(
  hidden: Readonly<Record<string, number>> = {},
  lists: typeof LISTS = LISTS,
): RecordedClient {
  const client = recordedClient();
  client.answer(({ method, path, body }) => {
    if (method === 'POST') return body;
    const plural = path.split('/').at(-1) ?? '';
    const status = hidden[plural];
    if (status !== undefined) throw new KubeError({ status, what: path });
    const items = (lists[plural] ?? []).map((each, index) => ({
      metadata: { namespace: 'team-a', name: `${plural}-${index}` },
      ...each,
    }));
    return { apiVersion: 'v1', kind: 'List', metadata: {}, items };
  });
  return client;
}

const OPTIONS: RevokeCertificatesOptions = {
  asGroup: [],
  serial: [],
  reason: 'keyCompromise',
  allowRenewal: false,
  withoutCrl: false,
  dryRun: false,
  source: 'live',
  output: 'text',
  force: false,
};

async function revoked(
  options: Partial<RevokeCertificatesOptions>,
  client = cluster(),
): Promise<{
  readonly report: Awaited<ReturnType<typeof revokeCertificates>>;
  readonly written: readonly Revocation[];
  readonly dryRuns: readonly unknown[];
}> {
  const all = { ...OPTIONS, ...options };
  const report = await revokeCertificates(client, sourcesOf(client, all, NOW), all, NOW);
  const posts = client.requests.filter(({ method }) => method === 'POST');
  return {
    report,
    written: posts.map(({ body }) => readRevocation(body as Revocation)),
    dryRuns: posts.map(({ query }) => query?.['dryRun']),
  };
}

const entry = (leaf: Certificate): object => ({
  serial: serialText(leaf.serial),
  authority: fingerprint(ca.facts.certificate.raw),
  notAfter: new Date(leaf.notAfter).toISOString().replace('.000', ''),
});
const keyOf = ({ publicKey }: Certificate): string =>
  `sha256:${createHash('sha256').update(publicKey.spki).digest('hex')}`;

const colons = (leaf: Certificate): string =>
  (Buffer.from(leaf.serial).toString('hex').match(/../g) ?? []).join(':').toUpperCase();

const rows: readonly [
  law: string,
  options: Partial<RevokeCertificatesOptions>,
  certificates: readonly Certificate[],
  holders: readonly object[] | undefined,
][] = [
  [
    'a pod: its certificates, and the pod by its UID',
    { pod: 'team-a/web-0' },
    [pods],
    [{ pod: { namespace: 'team-a', name: 'web-0', uid: 'pod-1' } }],
  ],
  [
    'a user: what they requested themselves, not what cert-manager did',
    { user: 'alice' },
    [alices],
    [{ user: 'alice' }],
  ],
  ['a name', { san: 'cm.example' }, [managers], [{ name: 'cm.example' }]],
  [
    'a CA: all of it, and nobody is refused',
    { ca: ca.facts.fingerprint },
    [alices, pods, managers],
    undefined,
  ],
  [
    'a serial number as OpenSSL prints it: its key is refused',
    { serial: [colons(alices)] },
    [alices],
    [{ key: keyOf(alices) }],
  ],
  ['--allow-renewal refuses nobody', { user: 'alice', allowRenewal: true }, [alices], undefined],
];

for (const [law, options, certificates, holders] of rows) {
  test(`revokes ${law}`, async () => {
    const { written, report } = await revoked(options);
    assert.equal(written.length, 1);
    assert.deepEqual(written[0]?.spec.certificates, certificates.map(entry));
    assert.deepEqual(written[0].spec.holders, holders);
    assert.equal(written[0].spec.signerName, SIGNER);
    assert.equal(written[0].spec.reason, 'keyCompromise');
    assert.equal(report.outcome, 'written');
  });
}

test('revokes an unknown serial number only for a named signer', async () => {
  const { written } = await revoked({ serial: ['0A:1b'], signer: SIGNER });
  assert.deepEqual(written[0]?.spec.certificates, [{ serial: 'a1b' }]);
  const refused = await revoked({ serial: ['0A:1b'] });
  assert.deepEqual(refused.written, []);
  assert.equal(refused.report.outcome, 'refused');
  assert.match(refused.report.refusals.join(), /name its signer with --signer/);
});

test('what no CA of the signer issued is not revoked, whoever wrote it into a status', async () => {
  const other = await openAuthority();
  const forged = Uint8Array.from(managers.raw);
  forged.set([(forged.at(-1) ?? 0) ^ 1], forged.length - 1);
  for (const leaf of [decodeCertificate(forged), await leafOf('cm.example', other)]) {
    const lists = Object.assign({}, LISTS, {
      certificaterequests: (LISTS['certificaterequests'] ?? []).map((each) => ({
        ...each,
        status: { certificate: base64(leaf) },
      })),
    });
    const { written, report } = await revoked({ san: 'cm.example' }, cluster({}, lists));
    assert.deepEqual([written, report.outcome], [[], 'refused']);
    assert.match(
      report.notes.join(),
      /no CA .* of example\.com\/workload issued the certificate of certificaterequest team-a\//,
    );
  }
});

interface Patch {
  readonly spec: { readonly profile: { readonly crl: object } };
}

test('a signer without a CRL is refused: a Revocation would have no effect', async () => {
  const signers = {
    clustersigners: [{ ...clusterSigner(workloadSpec()), status: statusOf(ca) }],
  };
  const plain = (): RecordedClient => cluster({}, Object.assign({}, LISTS, signers));
  for (const selection of [{ user: 'alice' }, { pod: 'team-a/web-0' }, { serial: ['0A:1b'] }]) {
    const options = { ...selection, signer: SIGNER };
    const { report, written } = await revoked(options, plain());
    assert.deepEqual([written, report.outcome], [[], 'refused'], JSON.stringify(selection));
    // The command stands at its step, and the steps in the order in which they are taken.
    assert.match(
      report.refusals.join(),
      /no CRL would list .* Set it, then repeat this command: kubectl patch clustersigner workload /,
    );
    const [, patch = ''] = /--type=merge -p '([^']*)'\. /.exec(report.refusals.join()) ?? [];
    const { profile } = (JSON.parse(patch) as Patch).spec;
    assert.equal(workload({ 'profile.crl': profile.crl }).spec.profile.crl?.validity, '24h');
    const later = await revoked({ ...options, withoutCrl: true }, plain());
    assert.equal(later.written.length, 1);
    assert.match(later.report.notes.join(), /until it has, no CRL lists them and no holder is/);
  }
});

test('a dry run asks the API server and stores nothing; the plan is the same', async () => {
  const { dryRuns, report } = await revoked({ user: 'alice', dryRun: true });
  assert.deepEqual(dryRuns, ['All']);
  assert.deepEqual(report.revocations, (await revoked({ user: 'alice' })).report.revocations);
});

test('it says what was searched, what was not, and that no ledger was', async () => {
  const hidden = cluster({ certificaterequests: 404, podcertificaterequests: 403 });
  const { report } = await revoked({ user: 'alice' }, hidden);
  assert.deepEqual(report.searched.slice(0, 3), [
    '3 CertificateSigningRequests',
    'no PodCertificateRequests: they may not be listed by you',
    'no CertificateRequests: they are not installed',
  ]);
  assert.match(report.searched[3] ?? '', /^no ledger, by --source live/);
});

test('nothing is written where nothing is found, or the signer is no ClusterSigner', async () => {
  const nobody = await revoked({ user: 'bob' });
  assert.deepEqual(nobody.written, []);
  assert.match(
    nobody.report.refusals.join(),
    /^no searched place has such an unexpired certificate/,
  );
  const acme = await revoked({ serial: ['a1'], signer: 'example.com/acme' });
  assert.deepEqual(acme.written, []);
  assert.match(acme.report.refusals.join(), /countersign revoke order\/NAME/);
});

test('one selection at a time, and a reason that CRLs have', async () => {
  const usage = { code: 'USAGE' };
  await assert.rejects(revoked({}), usage);
  await assert.rejects(revoked({ user: 'alice', san: 'x' }), usage);
  await assert.rejects(revoked({ user: 'alice', reason: 'removeFromCRL' }), usage);
});

/** The notes about the CertificateSigningRequests of alice with these certificates. */
async function notesOn(leaves: readonly Certificate[], dryRun = false): Promise<readonly string[]> {
  const certificatesigningrequests = leaves.map((leaf) => ({
    spec: { signerName: SIGNER, username: 'alice' },
    status: { certificate: base64(leaf) },
  }));
  const lists = Object.assign({}, LISTS, { certificatesigningrequests });
  const { report } = await revoked({ user: 'alice', dryRun }, cluster({}, lists));
  return report.notes;
}

test('a client certificate: it says that the API server reads no CRL, and what helps', async () => {
  const [note = '', ...more] = await notesOn([await clientOf('alice', 'dev', 'ops')]);
  assert.deepEqual(more, []);
  assert.match(note, /^kube-apiserver reads no CRL: .*until 20\d\d-/);
  assert.match(
    note,
    /remove user "alice" and group "dev", "ops" from all RoleBindings and Cluster/,
  );
  assert.match(note, /replace the CA in --client-ca-file/);
  assert.doesNotMatch(note, /system:masters/);
});

test('the rights of system:masters end by a new CA alone, and revoke says so', async () => {
  const leaf = await clientOf('root', 'dev');
  const forged = {
    ...leaf,
    subject: {
      ...leaf.subject,
      attributes: leaf.subject.attributes.map((each) =>
        each.value === 'dev' ? { ...each, value: 'system:masters' } : each,
      ),
    },
  };
  assert.match(
    accessNote(SIGNER, [forged]) ?? '',
    /Only a new CA ends the rights of system:masters/,
  );
});

test('what the API server takes from no one: no note on access', async () => {
  assert.deepEqual(await notesOn([alices]), [], 'no common name, so no user');
  const server = { ...(await clientOf('alice')), extKeyUsage: ['1.3.6.1.5.5.7.3.1'] };
  assert.equal(accessNote(SIGNER, [server]), undefined, 'for servers only');
  assert.deepEqual((await revoked({ pod: 'team-a/web-0' })).report.notes, []);
});

/** Returns what `countersign revoke OBJECT` revokes. */
async function revokedObject(
  text: string,
  namespace?: string,
  more: Partial<RevokeCertificatesOptions> = {},
): ReturnType<typeof revoked> {
  const lists = cluster();
  const client = recordedClient();
  client.answer((request) => {
    const [, plural = '', name = ''] = /([a-z]+)\/([^/]+)$/.exec(request.path) ?? [];
    if (name === 'v1') return { resources: [{ name: 'podcertificaterequests' }] };
    const number = /-(\d)$/.exec(name)?.[1];
    if (plural === 'clustersigners') return LISTS['clustersigners']?.[0];
    if (number === undefined) return lists.request(request);
    const found = (LISTS[plural] ?? [])[Number(number)] as { readonly spec: object };
    const metadata = { name, namespace: 'team-a' };
    return { ...found, metadata, spec: { ...found.spec, request: '' } };
  });
  const options = await withObject(client, revocableObject(text, namespace), {
    ...OPTIONS,
    ...more,
  });
  return revoked(options, client);
}

for (const [text, namespace, leaf] of [
  ['csr/certificatesigningrequests-0', undefined, alices],
  ['certificatesigningrequest.certificates.k8s.io/x-0', undefined, alices],
  ['pcr/podcertificaterequests-0', 'team-a', pods],
  ['pod/web-0', 'team-a', pods],
  ['certificaterequest/certificaterequests-0', 'team-a', managers],
] as const)
  test(`revoke ${text} revokes the certificate of this object`, async () => {
    const { written } = await revokedObject(text, namespace);
    const serials = written.flatMap(({ spec }) => spec.certificates.map(({ serial }) => serial));
    assert.deepEqual(serials, [serialText(leaf.serial)]);
    assert.deepEqual(
      written.map(({ spec }) => spec.signerName),
      [SIGNER],
    );
  });

test('an object in a namespace needs -n, and another kind has the flags to write', () => {
  for (const text of ['pod/web', 'pcr/web', 'certificaterequest/web', 'order/web', 'web'])
    assert.throws(() => revocableObject(text, undefined), /is in a namespace: write -n NAMESPACE/);
  assert.equal(revocableObject('csr/jane', undefined).name, 'jane');
  for (const text of ['secret/web', 'deploy/web', 'nothing/web'])
    assert.throws(() => revocableObject(text, 'a'), /csr\/NAME.*--user, --serial, --pod/);
  assert.deepEqual(revocableObject('www-1', 'web'), {
    kind: 'order',
    name: 'www-1',
    namespace: 'web',
  });
});

test('a request without a certificate, or of another signer, is refused', async () => {
  await assert.rejects(revokedObject('csr/x-3'), /csr\/x-3 has no certificate yet: it still waits/);
  const other = { signer: 'example.com/other' };
  await assert.rejects(revokedObject('csr/x-0', undefined, other), /csr\/x-0 is of example\.com/);
  // A CertificateSigningRequest of Kubernetes' own signer is on no CRL.
  const { report } = await revokedObject('csr/x-1');
  assert.match(report.refusals.join(), /no ClusterSigner has the signer name kubernetes\.io/);
});
