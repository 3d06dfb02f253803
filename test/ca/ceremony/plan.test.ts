// SPDX-License-Identifier: Apache-2.0
/** What a ceremony plans, signs and refuses, by decoded inputs. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { readCeremony } from '#ca/ceremony/ceremony-file.ts';
import {
  intermediateSlots,
  planCross,
  planIntermediates,
  planRoot,
} from '#ca/ceremony/plan-certificate.ts';
import { planList, readList } from '#ca/ceremony/plan-list.ts';
import { provenRequest } from '#ca/ceremony/request.ts';
import { signCertificate, signList } from '#ca/ceremony/sign.ts';
import { caKeyOf, type CaKey } from '#ca/custody/ca-key.ts';
import { encodePem } from '#pki/der/pem.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { decodeCertificate, decodeTbs, type Certificate } from '#pki/x509/certificate.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { formatTime } from '#api/object/time.ts';
import { CRL, CROSS, INTERMEDIATE, ROOT, ceremonyOf, changed } from '../../support/ca/ceremony.ts';
import { random } from '../../support/ca/issuing.ts';
import { ca, keyIds, link, purposes, usage } from '../../support/pki/chain.ts';
import { extension, implicit, oid, seq, utcTime } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';

const read = (sections: Parameters<typeof ceremonyOf>[0]): ReturnType<typeof readCeremony> =>
  readCeremony(ceremonyOf(sections), 'c.yaml');
const keyOf = (name: string): CaKey => caKeyOf(privateKey('P-256', name));

async function rootOf(key: CaKey, fields: object = {}): Promise<Certificate> {
  const file = read({ root: changed(ROOT, { ...fields }) });
  const plan = planRoot(file, { spki: key.spki, algorithm: key.algorithm.der }, random);
  return decodeCertificate(await signCertificate(plan, key));
}

const key = keyOf('root');
const root = await rootOf(key);

test('a root signs itself, with its path length and the times of the file', () => {
  assert.equal(nameText(root.subject), 'CN=Example Root,O=Example');
  assert.equal(nameText(root.issuer), 'CN=Example Root,O=Example');
  assert.equal(root.pathLen, 1);
  assert.equal(formatTime(root.notBefore), ROOT['notBefore']);
  assert.equal(formatTime(root.notAfter), ROOT['notAfter']);
});

const intermediates = (
  fields: object,
  parent = root,
  keys: Parameters<typeof planIntermediates>[2] = [keyOf('a').spki],
): ReturnType<typeof planIntermediates> =>
  planIntermediates(
    read({ intermediate: changed(INTERMEDIATE, { ...fields }) }),
    parent,
    keys,
    random,
  );

test('three intermediates begin a year apart, with names and files of their own', () => {
  const keys = ['a', 'b', 'c'].map((each) => keyOf(each).spki);
  const plans = intermediates({}, root, keys);
  const found = plans.map(({ tbs, certificate, keyFile }) => {
    const { subject, notBefore } = decodeTbs(tbs);
    return [certificate, keyFile, nameText(subject), formatTime(notBefore)];
  });
  assert.deepEqual(found, [
    [
      'intermediate-1.crt',
      'intermediate-1.key',
      'CN=Example Intermediate 1',
      '2027-01-01T00:00:00Z',
    ],
    [
      'intermediate-2.crt',
      'intermediate-2.key',
      'CN=Example Intermediate 2',
      '2028-01-01T00:00:00Z',
    ],
    [
      'intermediate-3.crt',
      'intermediate-3.key',
      'CN=Example Intermediate 3',
      '2028-12-31T00:00:00Z',
    ],
  ]);
});

test('an intermediate is signed once, by the key of its CA only', async () => {
  const [plan] = intermediates({});
  assert.ok(plan);
  await assert.rejects(signCertificate(plan, keyOf('other')), /no valid path/);
  await assert.rejects(signCertificate(plan, key), /already signed/);
});

const csr = (): string => {
  const sans = { dnsNames: ['wish.example'], ipAddresses: [], uris: [], emails: [] };
  const subject = { commonName: 'From the request', organizations: [], organizationalUnits: [] };
  return encodePem(
    'CERTIFICATE REQUEST',
    encodeRequest({ subject, sans, key: privateKey('P-256', 'csr') }),
  );
};

test('a request gives its key and its name, and nothing else of it is taken', () => {
  const request = provenRequest(csr());
  const [plan] = intermediates({ key: undefined, csr: 'a.csr', subject: undefined }, root, request);
  const { subject, sans, publicKey } = decodeTbs(plan?.tbs ?? new Uint8Array());
  assert.equal(nameText(subject), 'CN=From the request');
  assert.deepEqual(sans.dnsNames, []);
  assert.deepEqual(Buffer.from(publicKey.spki), Buffer.from(keyOf('csr').spki));
});

test('a subject in the file wins over that of the request', () => {
  const [plan] = intermediates({ key: undefined, csr: 'a.csr' }, root, provenRequest(csr()));
  const { subject } = decodeTbs(plan?.tbs ?? new Uint8Array());
  assert.equal(nameText(subject), 'CN=Example Intermediate');
});

test('a request without proof of possession is refused', () => {
  const der = Buffer.from(csr().replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
  refuses(
    () => provenRequest(encodePem('CERTIFICATE REQUEST', der)),
    'REQUEST_SIGNATURE',
    /signature/,
  );
});

test('a weak key of a request is refused', () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const subject = { commonName: 'Weak', organizations: [], organizationalUnits: [] };
  const sans = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
  const pem = encodePem('CERTIFICATE REQUEST', encodeRequest({ subject, sans, key: weak }));
  refuses(
    () => intermediates({ key: undefined, csr: 'a.csr' }, root, provenRequest(pem)),
    'KEY_WEAK',
    /RSA key/,
  );
});

test('an intermediate never outlives its CA, nor begins before it', () => {
  refuses(() => intermediates({ notAfter: '2048-01-01T00:00:00Z' }), 'USAGE', /after its CA/);
  refuses(() => intermediates({ notBefore: '2026-12-31T00:00:00Z' }), 'USAGE', /before its CA/);
});

test('a path length takes one of that of the CA', async () => {
  const invalid = ['AUTHORITY_INVALID', 'authority'] as const;
  refuses(() => intermediates({ pathLength: 1 }), invalid[0], /allows at most 0/, invalid[1]);
  const last = await rootOf(key, { pathLength: 0 });
  refuses(() => intermediates({}, last), invalid[0], /certifies leaves only/, invalid[1]);
});

test('no certificate has the key or the name of the CA that signs it', () => {
  refuses(() => intermediates({}, root, [key.spki]), 'USAGE', /it has the key of the CA/);
  const subject = ROOT['subject'];
  refuses(() => intermediates({ subject }), 'USAGE', /it has the name of the CA/);
  refuses(() => crossed({}, root), 'USAGE', /it has the key of the CA/);
});

test('--count takes no csr, and needs the time between intermediates', () => {
  const withCsr = read({ intermediate: changed(INTERMEDIATE, { key: undefined, csr: 'a' }) });
  refuses(() => intermediateSlots(withCsr, 2), 'USAGE', /one key/);
  const without = read({ intermediate: changed(INTERMEDIATE, { every: undefined }) });
  refuses(() => intermediateSlots(without, 2), 'USAGE', /every is missing/);
});

const otherKey = keyOf('other root');
const other = await rootOf(otherKey, {
  subject: { commonName: 'Other Root' },
  pathLength: 0,
  notAfter: '2030-01-01T00:00:00Z',
});
const crossed = (fields: object, of = other): ReturnType<typeof planCross> =>
  planCross(read({ cross: changed(CROSS, { ...fields }) }), root, of, random);

test('a cross-certificate has name, key and key identifier of the other CA', async () => {
  const cross = decodeCertificate(await signCertificate(crossed({}), key));
  assert.equal(nameText(cross.subject), 'CN=Other Root');
  assert.equal(nameText(cross.issuer), 'CN=Example Root,O=Example');
  assert.deepEqual(cross.publicKey.spki, other.publicKey.spki);
  assert.deepEqual(cross.subjectKeyIdentifier, other.subjectKeyIdentifier);
});

test('a cross-certificate allows no more than the other CA itself', async () => {
  refuses(() => crossed({ notAfter: '2031-01-01T00:00:00Z' }), 'USAGE', /ends at 2030/);
  const one = await rootOf(keyOf('deep'), { pathLength: 2 });
  const deep = await rootOf(otherKey, { pathLength: 0 });
  const file = read({ cross: changed(CROSS, { pathLength: 1 }) });
  refuses(() => planCross(file, one, deep, random), 'USAGE', /has path length 0/);
});

test('name constraints of the other CA must be repeated', async () => {
  const nameConstraints = { dns: { permitted: ['example.com'] } };
  const subject = { commonName: 'Narrow Root' };
  const narrow = await rootOf(otherKey, { subject, pathLength: 0, nameConstraints });
  refuses(() => crossed({}, narrow), 'USAGE', /must repeat/);
  assert.deepEqual(decodeTbs(crossed({ nameConstraints }, narrow).tbs).nameConstraints, {
    permitted: [{ kind: 'dns', text: 'example.com' }],
    excluded: [],
    hasOther: false,
  });
});

const crossedNarrow = async (
  theirs: Readonly<Record<string, object>>,
  planned: Readonly<Record<string, object>>,
): Promise<ReturnType<typeof planCross>> => {
  const subject = { commonName: 'Narrow Root' };
  const narrow = await rootOf(otherKey, { subject, pathLength: 0, nameConstraints: theirs });
  return crossed({ nameConstraints: planned }, narrow);
};

const THEIRS = {
  dns: { permitted: ['a.example.com'], excluded: ['x.a.example.com'] },
  uris: { permitted: ['.b.example.com'] },
};
const { dns, uris } = THEIRS;

for (const [law, planned] of Object.entries({
  'a wider domain': { ...THEIRS, dns: { ...dns, permitted: ['example.com'] } },
  'one more domain': { ...THEIRS, dns: { ...dns, permitted: ['a.example.com', 'b.example.com'] } },
  'a domain that ends alike': { ...THEIRS, dns: { ...dns, permitted: ['ba.example.com'] } },
  'no domain': { uris },
  'no host of URIs': { dns },
  'the host above': { ...THEIRS, uris: { permitted: ['b.example.com'] } },
  'no exclusion': { ...THEIRS, dns: { permitted: dns.permitted } },
  'a narrower exclusion': { ...THEIRS, dns: { ...dns, excluded: ['y.x.a.example.com'] } },
})) {
  test(`name constraints with ${law} do not repeat those of the other CA`, async () => {
    await assert.rejects(crossedNarrow(THEIRS, planned), /must repeat/);
  });
}

test('a cross-certificate may allow less than the name constraints of the other CA', async () => {
  const planned = {
    dns: { permitted: ['c.a.example.com'], excluded: ['a.example.com', 'other.example'] },
    uris: { permitted: ['c.b.example.com'] },
  };
  const { nameConstraints } = decodeTbs((await crossedNarrow(THEIRS, planned)).tbs);
  assert.deepEqual(
    nameConstraints?.permitted.map((each) => each.kind),
    ['dns', 'uri'],
  );
});

test('another CA with limits that a cross-certificate cannot repeat is refused', () => {
  const extensions = [ca(0), usage(), ...keyIds('limited')];
  const validity = seq(utcTime('260101000000Z'), utcTime('310101000000Z'));
  const limited = (...more: readonly Uint8Array[]): Certificate =>
    link('limited', { validity, extensions: [...extensions, ...more] }).certificate;
  const serverAuth = limited(purposes('1.3.6.1.5.5.7.3.1'));
  refuses(() => crossed({}, serverAuth), 'USAGE', /extendedKeyUsage/);
  assert.ok(crossed({}, limited(purposes('2.5.29.37.0'))));
  const mailbox = implicit(0x20, seq(implicit(1, Buffer.from('example.com'))));
  const mail = limited(extension('2.5.29.30', seq(mailbox), true));
  const nameConstraints = { dns: { permitted: ['example.com'] } };
  refuses(() => crossed({ nameConstraints }, mail), 'USAGE', /must repeat/);
});

test('the certificate of another CA with a false signature is refused', () => {
  const raw = Buffer.from(other.raw);
  raw[raw.length - 1] = (raw.at(-1) ?? 0) ^ 1;
  refuses(() => crossed({}, decodeCertificate(raw)), 'USAGE', /its own key does not verify/);
});

test('another CA whose old root signed itself by SHA-1 can be certified', () => {
  const algorithm = seq(oid('1.2.840.10045.4.1')); // ecdsa-with-SHA1 (RFC 3279 §2.2.3)
  const extensions = [ca(0), usage(), ...keyIds('old root')];
  const validity = seq(utcTime('260101000000Z'), utcTime('310101000000Z'));
  const old = link('old root', { algorithm, extensions, validity });
  const plan = crossed({}, old.certificate);
  assert.deepEqual(decodeTbs(plan.tbs).publicKey.spki, old.certificate.publicKey.spki);
});

const [madePlan] = intermediates({});
assert.ok(madePlan);
const made = decodeCertificate(await signCertificate(madePlan, key));

const listed = (
  fields: object,
  previous?: Uint8Array,
  certificate = made,
): ReturnType<typeof planList> =>
  planList(read({ crl: changed(CRL, { ...fields }) }), {
    parent: root,
    previous: previous === undefined ? undefined : readList(previous),
    certificateOf: () => certificate,
  });
const REVOKED = {
  certificate: 'intermediate.crt',
  revokedAt: '2027-01-01T00:00:00Z',
  reason: 'keyCompromise',
};
const first = await signList(listed({ revoked: [REVOKED] }), key, root);
const LATER = {
  first: undefined,
  previous: 'root.crl',
  thisUpdate: '2027-07-01T00:00:00Z',
  nextUpdate: '2028-07-01T00:00:00Z',
};

test('the next CRL has a higher number and every entry of the last', async () => {
  const entry = { serial: '0A:0b', revokedAt: '2027-02-01T00:00:00Z', reason: 'superseded' };
  const plan = listed({ ...LATER, revoked: [entry] }, first);
  const [before, after] = [readList(first), readList(await signList(plan, key, root))];
  assert.ok(after.number > before.number);
  assert.deepEqual(
    after.revoked.map(({ serial, reason }) => [Buffer.from(serial).toString('hex'), reason]),
    [
      [Buffer.from(made.serial).toString('hex'), 'keyCompromise'],
      ['0a0b', 'superseded'],
    ],
  );
});

test('the number of a CRL exceeds a last one from the future', async () => {
  const far = listed({ thisUpdate: '2040-01-01T00:00:00Z', nextUpdate: '2041-01-01T00:00:00Z' });
  const list = readList(await signList(far, key, root));
  const back = { ...list, thisUpdate: Date.parse('2027-01-01T00:00:00Z') };
  const next = planList(read({ crl: changed(CRL, LATER) }), {
    parent: root,
    previous: back,
    certificateOf: () => made,
  });
  assert.equal(next.wanted.number, list.number + 1n);
});

const listFaults: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  'before the last one': [
    () => listed({ ...LATER, thisUpdate: '2027-01-01T00:00:00Z' }, first),
    /crl\.thisUpdate: .* is not later/,
  ],
  'beyond the life of its CA': [
    () => listed({ nextUpdate: '2048-01-01T00:00:00Z' }),
    /the CA is valid from/,
  ],
  'with an entry twice': [
    () => listed({ ...LATER, revoked: [REVOKED] }, first),
    /revoked\.0: the serial number .* is already listed/,
  ],
  'with an entry of the future': [
    () => listed({ revoked: [{ ...REVOKED, revokedAt: '2027-01-02T00:00:00Z' }] }),
    /revokedAt: .* is later/,
  ],
  'with a certificate of another CA': [
    () => listed({ revoked: [REVOKED] }, undefined, other),
    /this CA did not sign intermediate\.crt/,
  ],
};

for (const [name, [run, message]] of Object.entries(listFaults)) {
  test(`a CRL ${name} is refused`, () => {
    refuses(run, 'USAGE', message);
  });
}

test('a last CRL that another key signed is refused', async () => {
  const twin = await rootOf(keyOf('twin'));
  const plan = planList(read({ crl: CRL }), {
    parent: twin,
    previous: undefined,
    certificateOf: () => made,
  });
  const list = await signList(plan, keyOf('twin'), twin);
  refuses(() => listed(LATER, list), 'USAGE', /is not a CRL of this CA/);
});
