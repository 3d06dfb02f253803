// SPDX-License-Identifier: Apache-2.0
/** Whatever a foreign CA returns, nothing is written but what was asked of it. */
import assert from 'node:assert/strict';
import { X509Certificate, generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import type { LeafTbsInput } from '#ca/issuance/leaf.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import type { SigningRequest, SignedCertificate } from '#library/index.ts';
import { wantedOf } from '#library/signing/signing-request.ts';
import { encodePem } from '#pki/der/pem.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { CN } from '../ca/policy/request.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { leafExtensions } from '#ca/issuance/leaf-extensions.ts';
import { encodeCertificate, encodeTbs } from '#pki/x509/encode-certificate.ts';
import { NOW } from '../support/pki/chain.ts';
import { ROOT, ISSUING, intermediateMaterial } from '../support/ca/intermediate.ts';
import { CSR, ISSUER, csrObject, issuerObject, ok, startReady, type World } from './world.ts';

let it: World;

beforeEach(async () => {
  it = await startReady({ allowedExtensions: ['1.3.6.1.4.1.99999.1'] });
});
afterEach(() => it.stop());

const A = `${CSR}/a`;
const { facts } = openLocalAuthority({ ...intermediateMaterial(), anchors: undefined }, NOW);
const key = readPrivateKey(intermediateMaterial().key);

/** What a CA signs that minds nothing: what was asked for, changed. */
function signed(request: SigningRequest, change: Partial<LeafTbsInput>): SignedCertificate {
  const wanted = wantedOf(request);
  assert.ok(wanted);
  const random = (size: number): Uint8Array => new Uint8Array(size).fill(7);
  const algorithm = signatureAlgorithm(key);
  const tbs = encodeLeafTbs({ ...wanted, issuer: facts, random, ...change });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { chain: encodePem('CERTIFICATE', der) + ISSUING.toString(), anchors: ROOT.toString() };
}

/** What was asked for, with one extension more. */
function extended(request: SigningRequest, oid: string): SignedCertificate {
  const wanted = wantedOf(request);
  assert.ok(wanted);
  const algorithm = signatureAlgorithm(key);
  const tbs = encodeTbs({
    serial: Uint8Array.of(7),
    signatureAlgorithm: facts.signatureAlgorithm,
    issuer: facts.subject,
    ...wanted.validity,
    subject: encodeName(wanted.subject),
    spki: wanted.publicKey.spki,
    extensions: [
      ...leafExtensions({ ...wanted, issuerKeyIdentifier: facts.keyIdentifier }),
      { oid, critical: false, value: Uint8Array.of(0x30, 0) },
    ],
  });
  const der = encodeCertificate(tbs, algorithm.der, algorithm.sign(tbs));
  return { chain: encodePem('CERTIFICATE', der) + ISSUING.toString(), anchors: ROOT.toString() };
}

const detail = (): string =>
  String(
    it.component.log.lines.findLast(({ message }) => message === 'request waiting')?.fields[
      'detail'
    ],
  );

async function answered(
  by: (request: SigningRequest) => SignedCertificate,
): Promise<string | undefined> {
  it.author.sign = (request) => Promise.resolve(by(request));
  it.api.put(A, csrObject('a'));
  await it.settle();
  return (it.api.get(A)?.status as { certificate?: string }).certificate;
}

test('a matching certificate is delivered with its intermediates, without the root', async () => {
  const written = await answered((request) => {
    const { chain, anchors } = signed(request, {});
    return { chain: chain + ROOT.toString(), ...(anchors === undefined ? {} : { anchors }) };
  });
  const pem = Buffer.from(written ?? '', 'base64').toString();
  assert.equal(pem.split('BEGIN CERTIFICATE').length - 1, 2);
  assert.equal(new X509Certificate(pem).subject, 'CN=jane');
});

const subject = {
  commonName: 'jane',
  organizations: [],
  organizationalUnits: [],
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emails: [],
};
const other = (): LeafTbsInput['publicKey'] =>
  decodePublicKey(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }));
const HOUR = 3_600_000;

const wrong: [
  what: string,
  change: (request: SigningRequest) => Partial<LeafTbsInput>,
  says: RegExp,
][] = [
  ['another key', () => ({ publicKey: other() }), /another public key/],
  ['another common name', () => ({ subject: { ...subject, commonName: 'root' } }), /commonName/],
  [
    'one more organization',
    () => ({ subject: { ...subject, organizations: ['system:masters'] } }),
    /organizations/,
  ],
  [
    'one more DNS name',
    () => ({ subject: { ...subject, dnsNames: ['a.example.com'] } }),
    /dnsNames/,
  ],
  [
    'no name at all',
    () => ({ subject: { ...subject, commonName: '', uris: ['spiffe://a/b'] } }),
    /commonName/,
  ],
  ['a usage more', () => ({ usages: ['digital signature', 'code signing'] }), /"code signing"/],
  ['a key usage more', () => ({ usages: ['content commitment', 'client auth'] }), /nonRepudiation/],
  ['no usages', () => ({ usages: ['digital signature'] }), /which permits every purpose/],
  [
    'an hour more',
    ({ template: { notBefore, notAfter } }) => ({
      validity: { notBefore, notAfter: notAfter + HOUR },
    }),
    /at most 86400 s was requested/,
  ],
  [
    'a beginning an hour ago',
    ({ template: { notBefore, notAfter } }) => ({
      validity: { notBefore: notBefore - HOUR, notAfter: notAfter - HOUR },
    }),
    /from the current time/,
  ],
];

for (const [what, change, says] of wrong) {
  test(`does not write a certificate with ${what}; the request waits, the log says why`, async () => {
    assert.equal(await answered((request) => signed(request, change(request))), undefined);
    assert.match(detail(), says);
  });
}

for (const oid of [
  '1.3.6.1.4.1.311.25.2',
  '1.3.6.1.5.5.7.1.24',
  '1.3.6.1.4.1.57683.2',
  '2.5.29.9',
]) {
  test(`a certificate with the extension ${oid} is not written`, async () => {
    assert.equal(await answered((request) => extended(request, oid)), undefined);
    assert.match(detail(), new RegExp(`the extension ${oid}, which was not requested`));
  });
}

for (const oid of ['1.3.6.1.4.1.11129.2.4.2', '1.3.6.1.4.1.99999.1']) {
  test(`writes a certificate with the extension ${oid}, of public CAs or allowed`, async () => {
    assert.ok(await answered((request) => extended(request, oid)));
  });
}

test('a certificate signed for one request is not delivered to another', async () => {
  const kept: SignedCertificate[] = [];
  it.author.sign = async (request, issuer, ctx) => {
    kept.push(await ok(request, issuer, ctx));
    return kept[0] ?? { chain: '' };
  };
  it.api.put(A, csrObject('a'));
  // Else either may be signed first.
  await it.settle();
  it.api.put(`${CSR}/b`, csrObject('b', undefined, { subject: [[CN, 'bob']], username: 'bob' }));
  await it.settle();
  assert.equal((it.api.get(`${CSR}/b`)?.status as { certificate?: string }).certificate, undefined);
  assert.match(detail(), /commonName is "jane"; requested was "bob"/);
  assert.ok((it.api.get(A)?.status as { certificate?: string }).certificate);
});

test('the result of openCa is frozen, and a changed copy is checked again', async () => {
  const written = await answered((request) => signed(request, {}));
  assert.ok(written !== undefined);
  const changes: unknown[] = [];
  it.author.sign = async (request, issuer, ctx) => {
    const own = await ok(request, issuer, ctx);
    changes.push(Reflect.set(own, 'chain', 'another'));
    return { ...own, chain: own.chain.replace('MII', 'MIJ') };
  };
  it.api.put(`${CSR}/b`, csrObject('b'));
  await it.settle();
  assert.deepEqual(changes, [false]);
  assert.match(detail(), /cannot be read/);
});

const texts: [
  what: string,
  chain: (right: SignedCertificate) => Partial<SignedCertificate>,
  says: RegExp,
][] = [
  ['no PEM', () => ({ chain: 'hello' }), /cannot be read/],
  ['nothing', () => ({ chain: '' }), /no certificate/],
  ['its own certificate', () => ({ chain: ISSUING.toString() }), /another public key/],
  [
    'a private key in it',
    ({ chain }) => ({ chain: chain + intermediateMaterial().key }),
    /cannot be read/,
  ],
  ['more than the API takes', ({ chain }) => ({ chain: chain + '\n'.repeat(102_400) }), /102400/],
];

for (const [what, change, says] of texts) {
  test(`nothing is written if the CA returns ${what}`, async () => {
    const written = await answered((request) => {
      const right = signed(request, {});
      return { ...right, ...change(right) };
    });
    assert.equal(written, undefined);
    assert.match(detail(), says);
  });
}

test('a chain that leads to none of its anchors is not written', async () => {
  const written = await answered((request) => ({
    ...signed(request, {}),
    anchors: ISSUING.toString(),
    chain: signed(request, {}).chain.replace(ISSUING.toString(), ''),
  }));
  assert.ok(written, 'the issuer itself as an anchor is one');
  await it.stop();
  it = await startReady();
  const alone = await answered((request) => ({
    chain: signed(request, {}).chain.replace(ISSUING.toString(), ''),
  }));
  assert.equal(alone, undefined);
  assert.match(detail(), /a leaf certificate without its issuers/);
});

test('if the issuer names a trust bundle, the chain must lead to a published anchor', async () => {
  const bundle =
    '/apis/certificates.k8s.io/v1/clustertrustbundles/testissuers.example.com:one:primary';
  it.api.put(ISSUER, issuerObject({ trustBundle: { name: 'primary' } }));
  await it.settle();
  it.author.sign = ok;
  it.api.put(A, csrObject('a'));
  await it.settle();
  assert.equal(it.author.signs.length, 0, 'not before it is published');
  const publish = (trustBundle: string): unknown =>
    it.api.put(bundle, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'ClusterTrustBundle',
      metadata: {
        name: 'testissuers.example.com:one:primary',
        uid: 'b',
        resourceVersion: '1',
        creationTimestamp: '2026-11-21T06:00:00Z',
      },
      spec: { signerName: 'testissuers.example.com/one', trustBundle },
    });
  publish(it.author.checks.length > 0 ? strangerRoot() : '');
  await it.settle();
  assert.equal(it.author.signs.length, 1);
  assert.equal((it.api.get(A)?.status as { certificate?: string }).certificate, undefined);
  assert.match(detail(), /no valid path/);
  publish(ROOT.toString());
  await it.time.advance(30_000);
  assert.ok((it.api.get(A)?.status as { certificate?: string }).certificate);
});

/** A CA that has nothing to do with ours. */
function strangerRoot(): string {
  return new X509Certificate(stranger.facts.certificate.raw).toString();
}
const { openAuthority } = await import('../support/ca/issuing.ts');
const stranger = await openAuthority();

test('the Ready condition names the verifiers that reject the anchors of an answer', async () => {
  it.author.sign = (request) =>
    Promise.resolve({ ...signed(request, {}), anchors: ISSUING.toString() });
  it.api.put(A, csrObject('a'));
  await it.settle();
  assert.deepEqual([it.ready()?.status, it.ready()?.reason], ['True', 'AnchorRejected']);
  assert.match(
    it.ready()?.message ?? '',
    /"CN=issuing" is an anchor but not a root.*: rejected by OpenSSL, .*Node, Python/,
  );
  const { certificate = '' } = it.api.get(A)?.status as { certificate?: string };
  assert.notEqual(certificate, '', 'verifiers that accept the anchor get their certificates');
  // The same anchors again are no reason for another check.
  const checks = it.author.checks.length;
  it.api.put(`${CSR}/b`, csrObject('b'));
  await it.settle();
  assert.equal(it.author.checks.length, checks);
});
