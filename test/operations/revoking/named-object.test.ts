// SPDX-License-Identifier: Apache-2.0
/** `countersign revoke KIND/NAME`: the certificate of the object, and no other one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { revocableObject } from '#cli/commands/revoke/named-object.ts';
import { withObject, type RevokeCertificatesOptions } from '#cli/commands/revoke/run.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { serialText } from '#ca/revocation/serial.ts';
import { NOW, openAuthority } from '../../support/ca/issuing.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import {
  LISTS,
  OPTIONS,
  SIGNER,
  alices,
  base64,
  ca,
  cluster,
  entry,
  keyOf,
  leafOf,
  managers,
  pem,
  pods,
  revoked,
} from '../../support/requests/revoking.ts';

/** Returns the base64 of a request with one of the keys of tests. */
function requestOf(seed: string): string {
  const der = encodeRequest({
    subject: { commonName: 'cm', organizations: [], organizationalUnits: [] },
    sans: { dnsNames: [], uris: [], emails: [], ipAddresses: [] },
    key: privateKey('P-256', seed),
  });
  return Buffer.from(encodePem('CERTIFICATE REQUEST', der)).toString('base64');
}

/** Returns what `countersign revoke OBJECT` revokes, and the paths that it requested. */
async function revokedObject(
  text: string,
  namespace?: string,
  more: Partial<RevokeCertificatesOptions> = {},
  {
    objects = LISTS,
    hidden = {},
    now = NOW,
  }: {
    readonly objects?: typeof LISTS;
    readonly hidden?: Readonly<Record<string, number>>;
    readonly now?: number;
  } = {},
): Promise<Awaited<ReturnType<typeof revoked>> & { readonly paths: readonly string[] }> {
  const lists = cluster(hidden, objects);
  const client = recordedClient();
  client.answer((request) => {
    const [, plural = '', name = ''] = /([a-z]+)\/([^/]+)$/.exec(request.path) ?? [];
    const number = /-(\d)$/.exec(name)?.[1];
    if (number === undefined) return lists.request(request);
    const found = (objects[plural] ?? [])[Number(number)] as { readonly spec?: object };
    const metadata = { name, namespace: 'team-a' };
    const spec = found.spec && { request: requestOf('leaf'), ...found.spec };
    return { ...found, metadata, spec };
  });
  const options = await withObject(client, revocableObject(text, namespace), {
    ...OPTIONS,
    ...more,
  });
  const found = await revoked(options, client, now);
  return { ...found, paths: client.requests.map(({ path }) => path) };
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

test('revoke lists the ClusterSigners once for every kind of object', async () => {
  for (const text of ['csr/x-0', 'pcr/x-0', 'certificaterequest/x-0']) {
    const { paths } = await revokedObject(text, 'team-a');
    assert.equal(paths.filter((path) => path.endsWith('/clustersigners')).length, 1, text);
  }
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

test('a request of another issuer is refused: its serial number is of another CA', async () => {
  const specs = [
    { issuerRef: { name: 'evil' } },
    { issuerRef: { group: 'cert-manager.io', kind: 'Issuer', name: 'workload' } },
    { issuerRef: { group: 'countersign.dev', kind: 'ClusterSigner', name: 'gone' } },
    // The definition allows that. Only the webhook of cert-manager refuses it.
    undefined,
  ];
  for (const spec of specs) {
    // The tenant gave it the serial number of another certificate, or that certificate itself.
    const certificaterequests = [{ spec, status: { certificate: base64(alices) } }];
    const objects = Object.assign({}, LISTS, { certificaterequests });
    const text = 'certificaterequest/certificaterequests-0';
    for (const more of [{}, { signer: SIGNER }]) {
      await assert.rejects(
        revokedObject(text, 'team-a', more, { objects }),
        /issuer of certificaterequest\/certificaterequests-0 is .* no ClusterSigner of this cluster/,
      );
    }
  }
});

test('a certificate in a request that no CA signed revokes none with its serial number', async () => {
  const forged = Uint8Array.from(alices.raw);
  forged.set([(forged.at(-1) ?? 0) ^ 1], forged.length - 1);
  const certificatesigningrequests = [
    {
      spec: { signerName: SIGNER, username: 'mallory' },
      status: { certificate: base64(decodeCertificate(forged)) },
    },
    ...(LISTS['certificatesigningrequests'] ?? []),
  ];
  const objects = Object.assign({}, LISTS, { certificatesigningrequests });
  const text = 'csr/certificatesigningrequests-0';
  const { written, report } = await revokedObject(text, undefined, {}, { objects });
  assert.deepEqual([written, report.outcome], [[], 'refused']);
  assert.match(
    report.refusals.join(),
    /^no CA in the status .* issued the certificate of csr .*-0, .* only if you know/,
  );
  assert.deepEqual(report.notes.filter((note) => note.includes('not revoked')).length, 1);
});

test('a CertificateRequest with the certificate of a CA, or an unreadable one, fails', async () => {
  const [own] = LISTS['certificaterequests'] ?? [];
  for (const [certificate, says] of [
    [base64(ca.facts.certificate), /is that of a CA, which no CertificateRequest gets: nothing is/],
    ['bm90aGluZw==', /is not readable: nothing is revoked\. Select .* only if you know that/],
  ] as const) {
    const certificaterequests = [{ ...own, status: { certificate } }];
    const objects = Object.assign({}, LISTS, { certificaterequests });
    await assert.rejects(
      revokedObject('certificaterequest/certificaterequests-0', 'team-a', {}, { objects }),
      says,
    );
  }
});

/** Returns a request with the key of the certificate and a signature that this key did not make. */
function forgedRequest(): string {
  const pem = Buffer.from(requestOf('leaf'), 'base64').toString();
  const der = Buffer.from(decodePem(pem, 'CERTIFICATE REQUEST'));
  der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1);
  return Buffer.from(encodePem('CERTIFICATE REQUEST', der)).toString('base64');
}

test('a CertificateRequest with the certificate of another key is refused', async () => {
  const [own] = LISTS['certificaterequests'] ?? [];
  for (const request of [requestOf('other'), forgedRequest(), 'bm90aGluZw==']) {
    const { spec } = own as { readonly spec: object };
    const objects = Object.assign({}, LISTS, {
      certificaterequests: [{ ...own, spec: { ...spec, request } }],
    });
    await assert.rejects(
      revokedObject('certificaterequest/certificaterequests-0', 'team-a', {}, { objects }),
      /does not have the key of the request, .*: nothing is revoked\. Select .* only if you know that/,
    );
  }
});

test('a request that may be read and not listed has its CA, its end and its key', async () => {
  for (const hidden of [{}, { certificatesigningrequests: 403 }]) {
    const text = 'csr/certificatesigningrequests-0';
    const { written, report } = await revokedObject(text, undefined, {}, { hidden });
    assert.deepEqual(written[0]?.spec.certificates, [entry(alices)]);
    assert.deepEqual(written[0].spec.holders, [{ key: keyOf(alices) }]);
    const { sources } = report.certificates[0] ?? {};
    assert.deepEqual(sources, ['csr certificatesigningrequests-0'], 'named once');
  }
});

test('an expired certificate of a request is said to be that, and nothing is written', async () => {
  const text = 'csr/certificatesigningrequests-0';
  const { written, report } = await revokedObject(
    text,
    undefined,
    {},
    { now: alices.notAfter + 1 },
  );
  assert.deepEqual([written, report.certificates], [[], []]);
  assert.match(report.refusals.join(), /^the certificate of csr .*-0 expired at 20.* to revoke$/);
  // The author of this status chooses which certificate is in it.
  const unguarded = 'certificaterequest/certificaterequests-0';
  const { report: other } = await revokedObject(
    unguarded,
    'team-a',
    {},
    { now: managers.notAfter + 1 },
  );
  assert.match(other.refusals.join(), /expired at 20.*: --san NAME finds the others$/);
});

test('a certificate of a Signer is refused as that: nobody signs a CRL for it', async () => {
  const says =
    /signers\.countersign\.dev\/team-a\.db is the name of Signer team-a\/db, .*your-own-ca/;
  const certificatesigningrequests = [
    {
      spec: { signerName: 'signers.countersign.dev/team-a.db', username: 'a' },
      status: { certificate: base64(alices) },
    },
  ];
  const issuerRef = { group: 'countersign.dev', kind: 'Signer', name: 'db' };
  const certificaterequests = [{ spec: { issuerRef }, status: { certificate: base64(alices) } }];
  const objects = Object.assign({}, LISTS, { certificatesigningrequests, certificaterequests });
  const text = 'csr/certificatesigningrequests-0';
  const { written, report } = await revokedObject(text, undefined, {}, { objects });
  assert.deepEqual(written, []);
  assert.match(report.refusals.join(), says);
  assert.doesNotMatch(report.refusals.join(), /ACME/);
  await assert.rejects(
    revokedObject('certificaterequest/certificaterequests-0', 'team-a', {}, { objects }),
    says,
  );
});

test('a request of an ACME signer has the command that revokes its certificate', async () => {
  const issuerRef = { group: 'acme.countersign.dev', kind: 'AcmeClusterSigner', name: 'public' };
  const certificaterequests = [{ spec: { issuerRef }, status: { certificate: base64(alices) } }];
  const objects = Object.assign({}, LISTS, { certificaterequests });
  await assert.rejects(
    revokedObject('certificaterequest/certificaterequests-0', 'team-a', {}, { objects }),
    /countersign revoke order\/NAME -n team-a revokes its certificate/,
  );
});

/** The objects of a ClusterSigner whose status was lost. */
function withoutStatus(): typeof LISTS {
  const [signer] = LISTS['clustersigners'] ?? [];
  return Object.assign({}, LISTS, { clustersigners: [{ ...signer, status: {} }] });
}

for (const [what, text, leaf] of [
  ['CertificateSigningRequest', 'csr/certificatesigningrequests-0', alices],
  ['PodCertificateRequest', 'pcr/podcertificaterequests-0', pods],
] as const)
  test(`a lost status of the signer hides no certificate of a ${what}`, async () => {
    const objects = withoutStatus();
    const namespace = text.startsWith('csr') ? undefined : 'team-a';
    const { written, report } = await revokedObject(text, namespace, {}, { objects });
    const { authority: _unknown, ...vague } = entry(leaf) as { readonly authority: string };
    assert.deepEqual(written[0]?.spec.certificates, [vague]);
    assert.deepEqual(written[0].spec.holders, [{ key: keyOf(leaf) }]);
    assert.match(report.notes.join(), /1 of them: it is not known which CA .* has lost the key/);
    for (const by of [{ user: 'alice' }, { pod: 'team-a/web-0' }])
      assert.equal((await revoked(by, cluster({}, objects))).written.length, 1);
  });

test('without the CA in the status, a CertificateRequest is refused with a way out', async () => {
  const objects = withoutStatus();
  const text = 'certificaterequest/certificaterequests-0';
  const { written, report } = await revokedObject(text, 'team-a', {}, { objects });
  assert.deepEqual(written, []);
  assert.match(
    report.refusals.join(),
    /its serial number [0-9a-f]+, which another certificate may/,
  );
  assert.doesNotMatch(report.refusals.join(), /--serial [0-9a-f]{8}/, 'a tenant chose it');
  const bySerial = { serial: [serialText(managers.serial)] };
  const found = await revoked(bySerial, cluster({}, objects));
  assert.match(found.report.refusals.join(), /that a CA of its signer issued .* name its signer/);
  const done = await revoked({ ...bySerial, signer: SIGNER }, cluster({}, objects));
  assert.equal(done.written.length, 1);
  assert.doesNotMatch(done.report.notes.join(), /not revoked/);
});

test('a previous CA with the name of the present one hides no certificate', async () => {
  const previous = await openAuthority();
  const old = await leafOf('old.example', previous);
  const spec = { signerName: SIGNER, username: 'bob' };
  const certificatesigningrequests = [{ spec, status: { certificate: base64(old) } }];
  const objects = Object.assign({}, LISTS, { certificatesigningrequests });
  const { written } = await revoked({ user: 'bob' }, cluster({}, objects));
  assert.deepEqual(
    written.flatMap(({ spec: { certificates } }) => certificates.map(({ serial }) => serial)),
    [serialText(old.serial)],
  );
});

test('a CA that only the chain of a certificate shows selects what it signed, by --ca', async () => {
  const previous = await openAuthority();
  const old = await leafOf('old.example', previous);
  const chain = (leaf: Certificate): string =>
    Buffer.from(pem(leaf) + pem(previous.facts.certificate)).toString('base64');
  const certificatesigningrequests = [old, alices].map((leaf) => ({
    spec: { signerName: SIGNER, username: 'bob' },
    status: { certificate: chain(leaf) },
  }));
  const objects = Object.assign({}, LISTS, { certificatesigningrequests });
  const { written } = await revoked({ ca: previous.facts.fingerprint }, cluster({}, objects));
  assert.deepEqual(
    written.flatMap(({ spec: { certificates } }) => certificates.map(({ serial }) => serial)),
    [serialText(old.serial)],
  );
});
