// SPDX-License-Identifier: Apache-2.0
/** `countersign revoke`: what is found, what is written, and what is said of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  revokeCertificates,
  sourcesOf,
  type RevokeCertificatesOptions,
} from '#cli/commands/revoke/run.ts';
import { MAX_REVOKED } from '#api/revocation/revocation.ts';
import type { SignerError } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import { accessNote } from '#operations/revoking/api-server.ts';
import type { CertificateSource } from '#operations/revoking/find-certificates.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { NOW, openAuthority } from '../../support/ca/issuing.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import {
  LISTS,
  OPTIONS,
  SIGNER,
  alices,
  base64,
  ca,
  clientOf,
  cluster,
  entry,
  keyOf,
  leafOf,
  managers,
  pem,
  pods,
  revoked,
} from '../../support/requests/revoking.ts';
import { statusOf } from '../../support/signers/authority-status.ts';
import { changed, clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

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

test('a pod whose names are "undefined" selects no certificate without a pod', async () => {
  const { written } = await revoked({ pod: 'undefined/undefined' });
  assert.deepEqual(written, []);
});

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

test('a CertificateRequest without a spec ends no search', async () => {
  const certificaterequests = [{ status: {} }, ...(LISTS['certificaterequests'] ?? [])];
  const lists = Object.assign({}, LISTS, { certificaterequests });
  const { written } = await revoked({ san: 'cm.example' }, cluster({}, lists));
  assert.deepEqual(written[0]?.spec.certificates, [entry(managers)]);
});

test('the CA certificate that a tenant wrote into a status is not revoked', async () => {
  const [own] = LISTS['certificaterequests'] ?? [];
  const status = { certificate: base64(ca.facts.certificate) };
  const lists = Object.assign({}, LISTS, { certificaterequests: [{ ...own, status }] });
  const { written } = await revoked({ ca: ca.facts.fingerprint }, cluster({}, lists));
  assert.deepEqual(written[0]?.spec.certificates, [alices, pods].map(entry));
  const { attributes } = ca.facts.certificate.subject;
  const byName = await revoked({ san: attributes[0]?.value ?? '' }, cluster({}, lists));
  assert.deepEqual(byName.written, []);
});

test('certificates that tenants wrote hide no command that revokes at an ACME server', async () => {
  const other = await openAuthority();
  const [own] = LISTS['certificaterequests'] ?? [];
  const forged = await Promise.all(
    Array.from({ length: 25 }, async () => ({
      ...own,
      status: { certificate: base64(await leafOf('web.example', other)) },
    })),
  );
  const orders = [{ status: { certificate: pem(await leafOf('web.example', other)) } }];
  const certificatesigningrequests = await Promise.all(
    Array.from({ length: 25 }, async () => ({
      spec: { signerName: 'signers.countersign.dev/team-b.db', username: 'mallory' },
      status: { certificate: base64(await leafOf('web.example', other)) },
    })),
  );
  const written = { certificaterequests: forged, certificatesigningrequests, orders };
  const lists = Object.assign({}, LISTS, written);
  const { report } = await revoked({ san: 'web.example' }, cluster({}, lists));
  assert.match(report.notes.join('\n'), /countersign revoke order\/orders-0 -n team-a/);
  assert.equal(report.notes.filter((note) => note === 'and 5 more such certificates').length, 2);
});

test('a serial number that only a forged certificate has is revoked with a note', async () => {
  const other = await openAuthority();
  const leaf = await leafOf('cm.example', other);
  const [own] = LISTS['certificaterequests'] ?? [];
  const certificaterequests = [{ ...own, status: { certificate: base64(leaf) } }];
  const lists = Object.assign({}, LISTS, { certificaterequests });
  const serial = [colons(leaf)];
  const { written, report } = await revoked({ serial, signer: SIGNER }, cluster({}, lists));
  assert.equal(written.length, 1);
  assert.match(
    report.notes.join(),
    /no CA .* issued the certificate of certificaterequest .*-0, and no other one .* may never have/,
  );
});

test('the serial number of the CA itself is refused, whoever names it', async () => {
  const serial = [colons(ca.facts.certificate)];
  const { written, report } = await revoked({ serial, signer: SIGNER });
  assert.deepEqual(written, []);
  assert.match(report.refusals.join(), /is the serial number of CA sha256:.* distrust the CA/);
});

test('a search of the ledger that was cut revokes nothing, and says what to choose', async () => {
  const client = cluster();
  const all = { ...OPTIONS, user: 'alice' };
  const cut: CertificateSource = async (signers) => {
    const results = await Promise.all(sourcesOf(client, all, NOW).map((each) => each(signers)));
    return { found: results.flatMap(({ found }) => found), places: [], cutAt: 8001 };
  };
  const report = await revokeCertificates(client, [cut], all, NOW);
  assert.deepEqual([report.outcome, report.revocations], ['refused', []]);
  assert.match(report.refusals.join(), /more than 8001 records .* for example with --signer/);
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
      /no CRL would list .* Set it with kubectl patch clustersigner workload .* repeat countersign revoke\. /,
    );
    const [, patch = ''] = /--type=merge -p '([^']*)', /.exec(report.refusals.join()) ?? [];
    const { profile } = (JSON.parse(patch) as Patch).spec;
    assert.equal(workload({ 'profile.crl': profile.crl }).spec.profile.crl?.validity, '24h');
    const later = await revoked({ ...options, withoutCrl: true }, plain());
    assert.equal(later.written.length, 1);
    assert.match(later.report.notes.join(), /until it has, no CRL lists them and no holder is/);
  }
});

test('a signer whose CA cannot have the patch, or the verb, gets what helps instead', async () => {
  const keyHolder = { namespace: 'countersign-keys', key: 'ca', chain: pem(ca.facts.certificate) };
  const secret = { namespace: 'countersign-keys', name: 'own-ca' };
  for (const [authority, says, never] of [
    [{ keyHolder }, /is in a key holder, .*a CRL of your own/, /kubectl patch|--without-crl/],
    [
      { secret },
      /kubectl patch .* if its key was stolen, put another CA into Secret countersign-keys\/own-ca/,
      /FINGERP/,
    ],
  ] as const) {
    const signer = clusterSigner(changed(workloadSpec(), 'authority', authority));
    const clustersigners = [{ ...signer, status: statusOf(ca) }];
    const client = (): RecordedClient => cluster({}, Object.assign({}, LISTS, { clustersigners }));
    const { report, written } = await revoked({ user: 'alice' }, client());
    assert.deepEqual(written, []);
    assert.match(report.refusals.join(), says);
    assert.doesNotMatch(report.refusals.join(), never);
    const later = await revoked({ user: 'alice', withoutCrl: true }, client());
    assert.match(later.report.notes.join(), /no CRL lists them and no holder is refused/);
    const isHeld = 'keyHolder' in authority;
    assert.equal(/until it has/.test(later.report.notes.join()), !isHeld);
  }
});

test('a dry run asks the API server and stores nothing; the plan is the same', async () => {
  const { dryRuns, report } = await revoked({ user: 'alice', dryRun: true });
  assert.deepEqual(dryRuns, ['All']);
  assert.deepEqual(report.revocations, (await revoked({ user: 'alice' })).report.revocations);
});

/** Returns what is created after the first name was taken by this object, or is not readable. */
async function createdBeside(existing: object | 403 | 404): Promise<readonly string[]> {
  const lists = cluster();
  const client = recordedClient();
  const names: string[] = [];
  client.answer((request) => {
    const { method, path, body } = request;
    if (path.includes('/revocations/') && typeof existing !== 'number') return existing;
    if (path.includes('/revocations/'))
      throw new KubeError({ status: Number(existing), what: path });
    if (method !== 'POST') return lists.request(request);
    names.push((body as Revocation).metadata.name);
    if (names.length > 1) return body;
    throw new KubeError({ status: 409, what: path, body: { reason: 'AlreadyExists' } });
  });
  const { report } = await revoked({ user: 'alice' }, client);
  assert.equal(report.outcome, 'written');
  assert.deepEqual(
    report.revocations.map(({ metadata }) => metadata.name),
    names.slice(-1),
    'the report names what exists',
  );
  return names;
}

test('a Revocation of that name counts only if it revokes the same', async () => {
  const [wanted] = (await revoked({ user: 'alice' })).written;
  assert.equal((await createdBeside({ metadata: {}, spec: wanted?.spec })).length, 1);
  const other = { ...wanted?.spec, holders: [{ user: 'bob' }] };
  const deletionTimestamp = '2026-11-29T00:00:00Z';
  for (const existing of [
    { metadata: {}, spec: other },
    { metadata: { deletionTimestamp }, spec: wanted?.spec },
    403,
    404,
  ] as const) {
    const [first = '', second = ''] = await createdBeside(existing);
    assert.match(second, new RegExp(`^${first}-[0-9a-f]{8}$`));
  }
});

test('a write that fails names the Revocations that were written before it', async () => {
  const serial = Array.from({ length: MAX_REVOKED + 1 }, (_, index) => (index + 1).toString(16));
  const failures = [
    [{ status: 403, what: 'POST revocations' }, 'the next one failed: POST revocations: 403'],
    // The API server may have stored it: there was no response.
    [
      { status: 0, what: 'POST revocations', cause: new Error('other side closed') },
      'the next one failed: POST revocations: no response',
    ],
  ] as const;
  for (const [failure, words] of failures) {
    const client = cluster();
    const unfailing = cluster();
    let posts = 0;
    client.answer((request) => {
      if (request.method !== 'POST') return unfailing.request(request);
      posts += 1;
      if (posts === 2) throw new KubeError(failure);
      return request.body;
    });
    await assert.rejects(revoked({ serial, signer: SIGNER }, client), (error: SignerError) => {
      assert.equal(error.code, new KubeError(failure).code);
      const message = new RegExp(`^1 of 2 Revocations are written: revoked-[0-9a-f]{16}; ${words}`);
      assert.match(error.message, message);
      return true;
    });
  }
});

test('the requests of pods are searched in the version that the API server serves', async () => {
  for (const version of ['v1', 'v1beta1']) {
    const { written } = await revoked({ pod: 'team-a/web-0' }, cluster({}, LISTS, version));
    assert.deepEqual(written[0]?.spec.certificates, [entry(pods)], version);
  }
  const { report } = await revoked({ user: 'alice' }, cluster({}, LISTS, 'none'));
  assert.equal(report.searched[1], 'no PodCertificateRequests: they are not installed');
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

test('revoke searches the other objects for who may not read the versions of the API', async () => {
  // A path of discovery ends in the version.
  const { report } = await revoked({ user: 'alice' }, cluster({ v1: 403, v1beta1: 403 }));
  assert.deepEqual(report.searched.slice(0, 2), [
    '3 CertificateSigningRequests',
    'no PodCertificateRequests: they may not be listed by you',
  ]);
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
  await assert.rejects(
    revoked({ user: 'alice', reason: 'removeFromCRL' }),
    /--reason removeFromCRL is not a reason of a CRL; write one of unspecified, keyCompromise, /,
  );
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
  assert.match(
    note,
    /bind the other members by name first\. Or replace the CA in --client-ca-file/,
  );
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
