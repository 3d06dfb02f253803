// SPDX-License-Identifier: Apache-2.0
/** CRLs of every kind of CA key, as Go, mldsa and OpenSSL read them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { openLocalAuthority } from '#ca/custody/local.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import { prepareList } from '#ca/revocation/prepared-list.ts';
import type { WantedList } from '#ca/revocation/wanted-list.ts';
import { AUTHORITY_KEY_TYPES, REVOCATION_REASONS, type CrlReason } from '#base/vocabulary.ts';
import { certificateAuthority } from '../support/ca/generated.ts';
import { NOW, leafInput } from '../support/ca/issuing.ts';
import { Openssl } from './openssl.ts';
import { ACCEPTED, PARSED, chainOf, openOracle } from './oracle.ts';

const oracle = await openOracle();
after(() => oracle[Symbol.asyncDispose]());
const openssl = new Openssl();
after(() => {
  openssl[Symbol.dispose]();
});

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const START = Math.floor(NOW / SECOND) * SECOND;
const REASONS = Object.keys(REVOCATION_REASONS) as CrlReason[];

async function authorityOf(keyType: (typeof AUTHORITY_KEY_TYPES)[number]): Promise<Authority> {
  return openLocalAuthority(
    { ...(await certificateAuthority({ keyType })), anchors: undefined },
    NOW,
  );
}

async function leafOf(authority: Authority, crlUrls?: readonly string[]): Promise<Certificate> {
  const prepared = prepare(leafInput(authority, crlUrls === undefined ? {} : { crlUrls }));
  return decodeCertificate(await authority.sign(prepared, new AbortController().signal));
}

function wantedOf({ facts }: Authority, revoked: WantedList['revoked']): WantedList {
  return { issuer: facts, number: 2n ** 63n, thisUpdate: START, nextUpdate: START + HOUR, revoked };
}

function listOf(authority: Authority, wanted: WantedList): Uint8Array {
  const list = authority.signList?.(prepareList(encodeTbsList(wanted), wanted));
  assert.ok(list);
  return list;
}

const asked = (list: Uint8Array, { facts }: Authority): Uint8Array =>
  chainOf({ leaf: list, intermediates: [], roots: [facts.certificate.raw], now: NOW });

for (const keyType of AUTHORITY_KEY_TYPES) {
  test(`a CRL of a CA with a key of type ${keyType} says to Go what was wanted`, async () => {
    const authority = await authorityOf(keyType);
    const leaves = await Promise.all(REASONS.map(() => leafOf(authority)));
    const revoked = REASONS.map((reason, index) => ({
      serial: leaves[index]?.serial ?? new Uint8Array(),
      revokedAt: START - index * HOUR,
      reason,
    }));
    const list = listOf(authority, wantedOf(authority, revoked));
    const { level, reason } = await oracle.ask('k', asked(list, authority));
    const seconds = (time: number): string => `${Math.floor(time / SECOND)}`;
    const entries = revoked.map(
      (each) =>
        `${Buffer.from(each.serial).toString('hex')}/${seconds(each.revokedAt)}/${REVOCATION_REASONS[each.reason]}`,
    );
    const read = [`${2n ** 63n}`, seconds(START), seconds(START + HOUR), ...entries].join(' ');
    assert.deepEqual([level, reason], [ACCEPTED, read]);
  });
}

test('Go refuses the CRL of another CA, and one with a changed bit', async () => {
  const [authority, stranger] = [await authorityOf('ECDSAP256'), await authorityOf('ECDSAP256')];
  const list = listOf(authority, wantedOf(authority, []));
  assert.equal((await oracle.ask('k', asked(list, stranger))).level, PARSED);
  const bent = Uint8Array.from(list);
  bent[bent.length - 1] = (bent.at(-1) ?? 0) ^ 1;
  assert.equal((await oracle.ask('k', asked(bent, authority))).level, PARSED);
});

for (const keyType of ['ECDSAP256', 'ECDSAP384', 'RSA3072', 'ED25519'] as const) {
  test(`openssl -crl_check and -crl_check_all accept a ${keyType} leaf until revoked`, async () => {
    const authority = await authorityOf(keyType);
    const [good, bad] = [await leafOf(authority), await leafOf(authority)];
    const entry = { serial: bad.serial, revokedAt: START, reason: 'keyCompromise' } as const;
    const judge = (revoked: WantedList['revoked'], check: '-crl_check' | '-crl_check_all') =>
      openssl.verifiedWithList([good.raw, bad.raw], {
        roots: [authority.facts.certificate.raw],
        list: listOf(authority, wantedOf(authority, revoked)),
        check,
        now: NOW,
      });
    for (const check of ['-crl_check', '-crl_check_all'] as const) {
      assert.deepEqual(await judge([], check), ['OK', 'OK']);
      assert.deepEqual(await judge([entry], check), ['OK', 'certificate revoked']);
    }
  });
}

test('openssl -crl_check takes a leaf without CRL URL by a CRL file, fetching none', async () => {
  const authority = await authorityOf('ECDSAP256');
  const list = listOf(authority, wantedOf(authority, []));
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.end(list);
  }).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const without = await leafOf(authority);
    const withOne = await leafOf(authority, [`http://127.0.0.1:${port}/ca.crl`]);
    const judge = (list: Uint8Array | undefined): Promise<readonly string[]> =>
      openssl.verifiedWithList([without.raw, withOne.raw], {
        roots: [authority.facts.certificate.raw],
        list,
        check: '-crl_check',
        now: NOW,
      });
    assert.deepEqual(await judge(list), ['OK', 'OK']);
    assert.deepEqual(asked, []);
    assert.deepEqual(await judge(undefined), ['unable to get certificate CRL', 'OK']);
    assert.deepEqual(asked, ['/ca.crl']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('openssl crl -text shows number, reason and no partition', async () => {
  const authority = await authorityOf('ECDSAP256');
  const { serial } = await leafOf(authority);
  const revoked = [{ serial, revokedAt: START, reason: 'cessationOfOperation' as const }];
  const text = await openssl.listText(
    listOf(authority, { ...wantedOf(authority, revoked), number: 41n }),
  );
  assert.match(text, /X509v3 CRL Number:\s+41/);
  assert.match(text, /X509v3 CRL Reason Code:\s+Cessation Of Operation/);
  assert.match(
    text,
    new RegExp(`Serial Number: ${Buffer.from(serial).toString('hex').toUpperCase()}`),
  );
  assert.doesNotMatch(text, /Issuing Distribution Point|Delta/);
});

test('Go and Countersign read a CRL after 2049, and a serial number with first bit set', async () => {
  const authority = await authorityOf('ECDSAP256');
  const serial = Uint8Array.of(0, 0xff, 1);
  const late = Date.UTC(2051, 5, 1);
  const wanted = {
    ...wantedOf(authority, [{ serial, revokedAt: START, reason: 'superseded' as const }]),
    nextUpdate: late,
    number: 0xffn,
  };
  const { level, reason } = await oracle.ask('k', asked(listOf(authority, wanted), authority));
  assert.deepEqual(
    [level, reason],
    [ACCEPTED, `255 ${START / SECOND} ${late / SECOND} ff01/${START / SECOND}/4`],
  );
});
