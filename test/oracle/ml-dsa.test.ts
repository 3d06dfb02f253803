// SPDX-License-Identifier: Apache-2.0
/**
 * ML-DSA-65 against `filippo.io/mldsa`, which shares no code with OpenSSL. Leaves of every profile
 * that an ML-DSA-65 CA signs are judged in leaves.test.ts.
 */
import assert from 'node:assert/strict';
import { randomBytes, sign } from 'node:crypto';
import { after, test } from 'node:test';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { publicKeyOf, readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { certificateAuthority } from '../support/ca/generated.ts';
import { certificateDer } from '../support/pki/certificate-der.ts';
import { NOW, leafInput } from '../support/ca/issuing.ts';
import { privateKey } from '../support/pki/keys.ts';
import { mlDsaPkcs8 } from '../support/pki/ml-dsa-key.ts';
import { inShortOrLong } from './length.ts';
import { ACCEPTED, PARSED, chainOf, openOracle } from './oracle.ts';

const oracle = await openOracle();
after(() => oracle[Symbol.asyncDispose]());

const authority = openLocalAuthority(
  { ...(await certificateAuthority({ keyType: 'MLDSA65' })), anchors: undefined },
  NOW,
);

async function leafOfOurs(): Promise<Certificate> {
  const prepared = prepare(leafInput(authority));
  return decodeCertificate(await authority.sign(prepared, new AbortController().signal));
}

const below = (leaf: Uint8Array): Uint8Array =>
  chainOf({ leaf, intermediates: [], roots: [authority.facts.certificate.raw], now: NOW });

test('Go reads the CA, and mldsa verifies its signatures', async () => {
  const answer = await oracle.ask('m', below((await leafOfOurs()).raw));
  assert.deepEqual([answer.level, answer.reason], [ACCEPTED, '']);
});

test('a leaf with one changed bit is refused by us and by mldsa', async () => {
  const { raw } = await leafOfOurs();
  for (const fromTheEnd of [1, 100, 3000, 3308]) {
    const bent = Uint8Array.from(raw);
    const at = bent.length - fromTheEnd;
    bent[at] = (bent[at] ?? 0) ^ 1;
    const answer = await oracle.ask('m', below(bent));
    assert.equal(answer.level, PARSED);
    assert.match(answer.reason, /the signature of/);
    const { signatureAlgorithm: algorithm, tbs, signature } = decodeCertificate(bent);
    const { publicKey } = authority.facts.certificate;
    assert.equal(verifySignature(publicKey, algorithm, tbs, signature), false);
  }
});

test('we and mldsa derive one key from a seed, and verify each other’s signature', async () => {
  for (let round = 0; round < inShortOrLong(20, 2000); round++) {
    const [seed, message] = [randomBytes(32), randomBytes(round)];
    const { level, reason } = await oracle.ask('s', Buffer.concat([seed, message]));
    assert.equal(level, ACCEPTED, reason);
    const [theirKey = '', theirSignature = ''] = reason.split(' ');
    const der = mlDsaPkcs8('seed', { seed, expanded: Buffer.alloc(0) });
    const key = readPrivateKey(encodePem('PRIVATE KEY', der));
    const spki = publicKeyOf(key);
    assert.equal(Buffer.from(spki.subarray(-1952)).toString('hex'), theirKey);
    const { publicKey } = decodeCertificate(certificateDer({ spki, key: privateKey('P-256') }));
    const verifies = (signature: Uint8Array): boolean =>
      verifySignature(publicKey, signatureAlgorithm(key).der, message, signature);
    assert.ok(verifies(Buffer.from(theirSignature, 'hex')));
  }
});

test('a leaf signed by another key is refused by mldsa as well', async () => {
  const { tbs } = await leafOfOurs();
  const stranger = sign(null, tbs, privateKey('ML-DSA-65', 'stranger'));
  const own = await leafOfOurs();
  const forged = Buffer.concat([own.raw.subarray(0, -stranger.length), stranger]);
  assert.equal((await oracle.ask('m', below(forged))).level, PARSED);
});
