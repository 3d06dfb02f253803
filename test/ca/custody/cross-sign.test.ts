// SPDX-License-Identifier: Apache-2.0
/** ADR 0022: a CA's key, certified by the CA before it. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { decodeCertificate, fingerprint } from '#pki/x509/certificate.ts';
import { decodePemAll, encodePem } from '#pki/der/pem.ts';
import { AUTHORITY_KEY_TYPES, type AuthorityKeyType } from '#base/vocabulary.ts';
import { random } from '../../support/ca/issuing.ts';

const DAY = 24 * 3_600;
const BORN = Date.UTC(2026, 0, 1);
const NEXT_BORN = BORN + 300 * DAY * 1000;
const NOW = NEXT_BORN + 600_000;

const create = createManagedAuthorities(random);
const crossSign = createCrossSign(random);

function made(
  keyType: AuthorityKeyType,
  now: number,
  more: { readonly crossSigned?: boolean; readonly durationSeconds?: number } = {},
): Promise<AuthorityMaterial> {
  const durationSeconds = 365 * DAY;
  return create({
    keyType,
    commonName: 'CA',
    durationSeconds,
    crossSigned: true,
    now,
    ...more,
  });
}

const old = await made('ECDSAP256', BORN);
const next = await made('ED25519', NEXT_BORN);
const certificateOf = ({ certificate }: AuthorityMaterial): X509Certificate =>
  new X509Certificate(certificate);

/** The cross-certificate, and the CA that is stored behind it. */
function read(cross: string | undefined): readonly [X509Certificate, X509Certificate] {
  assert.ok(cross !== undefined);
  const [first, second, ...more] = decodePemAll(cross, 'CERTIFICATE');
  assert.ok(first !== undefined && second !== undefined && more.length === 0);
  return [new X509Certificate(first), new X509Certificate(second)];
}

for (const keyType of AUTHORITY_KEY_TYPES) {
  test(`a ${keyType} CA certifies its successor’s name and key, for leaves, to its end`, async () => {
    const by = await made(keyType, BORN);
    const [cross, issuer] = read(await crossSign({ old: by, next, now: NOW }));
    assert.equal(issuer.fingerprint256, certificateOf(by).fingerprint256);
    assert.ok(cross.verify(issuer.publicKey) && cross.checkIssued(issuer));
    assert.equal(cross.subject, certificateOf(next).subject);
    assert.ok(cross.publicKey.equals(certificateOf(next).publicKey));
    assert.notEqual(cross.serialNumber, certificateOf(next).serialNumber);
    assert.equal(cross.validFromDate.getTime(), certificateOf(next).validFromDate.getTime());
    assert.equal(cross.validToDate.getTime(), issuer.validToDate.getTime());
    const [decoded, root] = [cross, certificateOf(next)].map(({ raw }) => decodeCertificate(raw));
    assert.deepEqual([decoded?.isCa, decoded?.pathLen], [true, 0]);
    assert.deepEqual(decoded?.subjectKeyIdentifier, root?.subjectKeyIdentifier);
    assert.deepEqual(
      decoded?.authorityKeyIdentifier,
      decodeCertificate(issuer.raw).subjectKeyIdentifier,
    );
    assert.deepEqual(
      decoded?.extensions.map(({ oid, critical }) => [oid, critical]),
      [
        ['2.5.29.15', true],
        ['2.5.29.19', true],
        ['2.5.29.14', false],
        ['2.5.29.35', false],
      ],
    );
  });
}

test('with the option a CA has path length 1: room for its successor and no more', async () => {
  const pathLen = async (crossSigned: boolean): Promise<number | undefined> => {
    const { certificate } = await made('ECDSAP256', BORN, { crossSigned });
    return decodeCertificate(certificateOf({ certificate, key: '', anchors: '' }).raw).pathLen;
  };
  assert.deepEqual([await pathLen(true), await pathLen(false)], [1, 0]);
});

test('a CA made without the option certifies no successor', async () => {
  const by = await made('ECDSAP256', BORN, { crossSigned: false });
  assert.equal(await crossSign({ old: by, next, now: NOW }), undefined);
});

test('a cross-certificate ends when the successor ends, if that is first', async () => {
  const short = await made('ECDSAP256', NEXT_BORN, { durationSeconds: DAY });
  const [cross] = read(await crossSign({ old, next: short, now: NOW }));
  assert.equal(cross.validToDate.getTime(), certificateOf(short).validToDate.getTime());
});

test('an expired CA certifies no successor', async () => {
  const now = BORN + 365 * DAY * 1000;
  await assert.rejects(crossSign({ old, next, now }), { code: 'AUTHORITY_EXPIRED' });
});

test('an opened CA reports who certified its key', async () => {
  const cross = (await crossSign({ old, next, now: NOW })) ?? '';
  const { facts } = openLocalAuthority({ ...next, cross }, NOW);
  assert.equal(facts.cross?.issuer, fingerprint(certificateOf(old).raw));
  assert.deepEqual(facts.cross.certificate.subject.raw, facts.certificate.subject.raw);
  // It is no part of the chain that every leaf needs.
  assert.deepEqual(facts.intermediates, []);
});

const another = await made('ECDSAP256', NEXT_BORN);
const strict = await made('ECDSAP256', BORN, { crossSigned: false });
const cross = (await crossSign({ old, next, now: NOW })) ?? '';
const [first = new Uint8Array()] = decodePemAll(cross, 'CERTIFICATE');
const alone = encodePem('CERTIFICATE', first);

const foreign: readonly (readonly [law: string, cross: string])[] = [
  ['no PEM', 'nothing'],
  ['half of it', cross.slice(0, cross.length / 2)],
  ['without the CA that signed it', alone],
  ['with one certificate too many', cross + next.certificate],
  ['with another CA behind it', alone + another.certificate],
  ['of another CA', (await crossSign({ old, next: another, now: NOW })) ?? ''],
  ['the CA itself', next.certificate + next.certificate],
  ['in the wrong order', old.certificate + alone],
  ['with a CA of path length 0 behind it', alone + strict.certificate],
];

for (const [law, text] of foreign) {
  test(`a cross.crt of another CA is ignored, and the CA keeps signing: ${law}`, () => {
    const { facts } = openLocalAuthority({ ...next, cross: text }, NOW);
    assert.equal(facts.cross, undefined);
  });
}
