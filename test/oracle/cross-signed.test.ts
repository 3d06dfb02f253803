// SPDX-License-Identifier: Apache-2.0
/**
 * ADR 0022: what verifiers say that have nothing but an old root. Go and OpenSSL are the judges.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { localCaOf } from '../support/requests/local-ca.ts';
import type { AuthorityKeyType } from '#base/vocabulary.ts';
import { NOW, leafInput, random } from '../support/ca/issuing.ts';
import { recordedComponent } from '../support/component/recorded-component.ts';
import { workload } from '../support/signers/workload-profile.ts';
import { Openssl } from './openssl.ts';
import { ACCEPTED, chainOf, openOracle } from './oracle.ts';
import { ourChain } from './ours.ts';

const oracle = await openOracle();
const openssl = new Openssl();
after(async () => {
  openssl[Symbol.dispose]();
  await oracle[Symbol.asyncDispose]();
});

const HOUR = 3_600_000;
const create = createManagedAuthorities(random);
const crossSign = createCrossSign(random);

function made(
  keyType: AuthorityKeyType,
  age: number,
  crossSigned = true,
): Promise<AuthorityMaterial> {
  const durationSeconds = 72 * 3_600;
  return create({ keyType, commonName: 'CA', durationSeconds, crossSigned, now: NOW - age * HOUR });
}

/** The chain that a signer delivers, under a spec of the option, leaf first. */
async function delivered(
  material: AuthorityMaterial,
  distrusted: readonly string[] = [],
): Promise<readonly [Uint8Array, ...Uint8Array[]]> {
  const authority = openLocalAuthority(material, NOW);
  const signer = workload({
    'authority.managed.crossSigned': true,
    'authority.managed.distrusted': distrusted,
  });
  const issuing = localCaOf(recordedComponent(), authority, signer);
  const { issuer: _issuer, random: _random, ...wanted } = leafInput(authority);
  const issued = await issuing.issue(wanted, signer);
  assert.ok(issued.kind === 'chain');
  const [leaf, ...above] = decodePemAll(issued.chain, 'CERTIFICATE');
  assert.ok(leaf !== undefined);
  return [leaf, ...above];
}

/** Who of the three believes this chain, with these roots alone. */
async function believers(
  [leaf, ...intermediates]: readonly [Uint8Array, ...Uint8Array[]],
  roots: readonly AuthorityMaterial[],
): Promise<readonly string[]> {
  const ders = roots.flatMap(({ certificate }) => decodePemAll(certificate, 'CERTIFICATE'));
  const parts = { leaf, intermediates, roots: ders, now: NOW };
  const verdicts = {
    ours: ourChain(parts).level === ACCEPTED,
    go: (await oracle.ask('v', chainOf(parts))).level === ACCEPTED,
    openssl: await openssl.acceptsChain(parts),
  };
  return Object.entries(verdicts).flatMap(([who, accepts]) => (accepts ? [who] : []));
}

const ALL = ['ours', 'go', 'openssl'];
const PAIRS: readonly (readonly [AuthorityKeyType, AuthorityKeyType])[] = [
  ['ECDSAP256', 'ECDSAP256'],
  ['ECDSAP384', 'ED25519'],
  ['ED25519', 'RSA3072'],
  ['RSA3072', 'ECDSAP521'],
];

for (const [before, then] of PAIRS) {
  test(`${before}, then ${then}: clients with either root or both trust new leaves`, async () => {
    const [old, next] = [await made(before, 48), await made(then, 1)];
    const cross = await crossSign({ old, next, now: NOW });
    assert.ok(cross !== undefined);
    const chain = await delivered({ ...next, cross });
    assert.deepEqual(await believers(chain, [old]), ALL);
    assert.deepEqual(await believers(chain, [next]), ALL);
    assert.deepEqual(await believers(chain, [next, old]), ALL);
    // Which is what it is for.
    assert.deepEqual(await believers(await delivered(next), [old]), []);
  });
}

test('after the old CA’s distrust no client trusts new leaves through it', async () => {
  const [old, next] = [await made('ECDSAP256', 48), await made('ECDSAP256', 1)];
  const cross = (await crossSign({ old, next, now: NOW })) ?? '';
  const chain = await delivered({ ...next, cross }, [
    openLocalAuthority(old, NOW).facts.fingerprint,
  ]);
  assert.deepEqual(await believers(chain, [old]), []);
  assert.deepEqual(await believers(chain, [next]), ALL);
});

test('a cross-certificate bridges one rotation, not two', async () => {
  const [first, old, next] = [
    await made('ECDSAP256', 70),
    await made('ECDSAP256', 48),
    await made('ECDSAP256', 1),
  ];
  const ofOld = (await crossSign({ old: first, next: old, now: NOW - 40 * HOUR })) ?? '';
  const cross = (await crossSign({ old, next, now: NOW })) ?? '';
  const chain = await delivered({ ...next, cross });
  const [between = new Uint8Array()] = decodePemAll(ofOld, 'CERTIFICATE');
  assert.deepEqual(await believers([...chain, between], [first]), []);
});

test('a CA that a cross-certified CA certifies is trusted by no client', async () => {
  const [old, next, below] = [
    await made('ECDSAP256', 48),
    await made('ECDSAP256', 1),
    await made('ECDSAP256', 0.5),
  ];
  const cross = (await crossSign({ old, next, now: NOW })) ?? '';
  const further = (await crossSign({ old: next, next: below, now: NOW })) ?? '';
  const [leaf] = await delivered(below);
  const between = [further, cross].map(
    (pem) => decodePemAll(pem, 'CERTIFICATE')[0] ?? new Uint8Array(),
  );
  assert.deepEqual(await believers([leaf, ...between], [old]), []);
});

test('a distrusted CA’s key signs no leaf that verifies to the remaining anchors', async () => {
  const [first, old, stolen, fresh] = [
    await made('ECDSAP256', 70),
    await made('ECDSAP256', 48),
    await made('ECDSAP256', 24),
    await made('ECDSAP256', 1, false),
  ];
  const ofOld = (await crossSign({ old: first, next: old, now: NOW - 40 * HOUR })) ?? '';
  const ofStolen = (await crossSign({ old, next: stolen, now: NOW })) ?? '';
  const sent = [ofStolen, ofOld].map(
    (pem) => decodePemAll(pem, 'CERTIFICATE')[0] ?? new Uint8Array(),
  );
  const [leaf] = await delivered(stolen);
  const all = [first, old, stolen, fresh];
  const printOf = (of: AuthorityMaterial): string => openLocalAuthority(of, NOW).facts.fingerprint;
  const isDistrusted = distrustedCas({
    ...workload({ 'authority.managed.distrusted': [printOf(stolen)] }),
    status: {
      crossCertificates: [
        { issuer: printOf(first), subject: printOf(old), notAfter: '2100-01-01T00:00:00Z' },
        { issuer: printOf(old), subject: printOf(stolen), notAfter: '2100-01-01T00:00:00Z' },
      ],
    },
  });
  const trusted = all.filter((each) => !isDistrusted(printOf(each)));
  assert.deepEqual(trusted, [first, fresh]);
  assert.deepEqual(await believers([leaf, ...sent], trusted), []);
  // Each root that went had to go.
  assert.deepEqual(await believers([leaf, ...sent], [...trusted, old]), ALL);
  assert.deepEqual(await believers([leaf, ...sent], [...trusted, stolen]), ALL);
});
