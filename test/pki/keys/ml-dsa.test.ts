// SPDX-License-Identifier: Apache-2.0
/** ML-DSA-65 in certificates: RFC 9881, FIPS 204. test/oracle/ml-dsa.test.ts asks Go. */
import assert from 'node:assert/strict';
import { createPublicKey, sign, type KeyObject } from 'node:crypto';
import { describe, test } from 'node:test';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { decodePublicKey, keyIdentifier } from '#pki/keys/public-key.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { publicKeyOf, readPrivateKey } from '#pki/keys/private-key.ts';
import { signatureAlgorithm } from '#pki/keys/signature-algorithm.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { NOW, ca, keyIds, link, usage } from '../../support/pki/chain.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { NULL, bits, oid, seq } from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { ML_DSA_FORMS, mlDsaPkcs8, secretsOf } from '../../support/pki/ml-dsa-key.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { ECDSA_SHA256, requestDer } from '../../support/pki/request-der.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';

const OID = '2.16.840.1.101.3.4.3.18';
const ALGORITHM = seq(oid(OID));
const KEY = privateKey('ML-DSA-65');

const certified = (spki: Uint8Array): Certificate =>
  decodeCertificate(certificateDer({ spki, key: privateKey('P-256') }));

describe('an ML-DSA-65 key', () => {
  test('is read in a certificate, but a profile cannot name it', () => {
    const { publicKey } = certified(spkiOf(KEY));
    assert.equal(publicKey.algorithm, 'MLDSA65');
    assert.equal(publicKey.keyType, undefined);
    assert.doesNotThrow(() => checkKey(publicKey));
    assert.equal(keyIdentifier(publicKey.spki).length, 20);
  });

  test('is written with its own OID and no parameters (RFC 9881 §4)', () => {
    const [head, algorithm] = [spkiOf(KEY).subarray(4, 17), ALGORITHM];
    assert.deepEqual(Buffer.from(head), Buffer.from(algorithm));
  });

  test('is refused in a request', () => {
    const spki = spkiOf(KEY);
    refuses(() => decodePublicKey(spki), 'KEY_UNSUPPORTED', /only CAs have ML-DSA-65 keys/);
    refuses(() => decodeRequest(requestDer({ spki })), 'KEY_UNSUPPORTED', /only CAs/);
  });

  test('with another length is refused', () => {
    for (const length of [0, 1951, 1953]) {
      const spki = seq(ALGORITHM, bits(new Uint8Array(length)));
      refuses(() => certified(spki), 'KEY_MALFORMED', /not 1952 bytes/);
    }
  });

  test('with parameters, even NULL, is refused', () => {
    const spki = seq(seq(oid(OID), NULL), bits(new Uint8Array(1952)));
    refuses(() => certified(spki), 'DER_MALFORMED', /trailing/);
  });

  test('with the OID of ML-DSA-44 is refused', () => {
    const other = spkiOf(privateKey('ML-DSA-44'));
    refuses(() => certified(other), 'KEY_UNSUPPORTED', /2\.16\.840\.1\.101\.3\.4\.3\.17/);
    const pem = String(privateKey('ML-DSA-44').export({ type: 'pkcs8', format: 'pem' }));
    refuses(() => readPrivateKey(pem), 'KEY_UNSUPPORTED', /ml-dsa-44/);
  });
});

describe('an ML-DSA-65 signature', () => {
  const data = Buffer.from('what is signed');
  const { publicKey } = certified(spkiOf(KEY));
  const algorithm = signatureAlgorithm(KEY);
  const signature = algorithm.sign(data);
  const flipped = (octets: Uint8Array, at: number): Uint8Array => {
    const copy = Uint8Array.from(octets);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };

  test('verifies under the OID of the key', () => {
    assert.deepEqual(Buffer.from(algorithm.der), Buffer.from(ALGORITHM));
    assert.equal(signature.length, 3309);
    assert.equal(verifySignature(publicKey, algorithm.der, data, signature), true);
  });

  test('does not verify for another message, key or signature', () => {
    const verifies = (over: Uint8Array, made: Uint8Array): boolean =>
      verifySignature(publicKey, algorithm.der, over, made);
    assert.equal(verifies(flipped(data, 0), signature), false);
    for (const at of [0, 47, 48, 2000, 3250, 3308]) {
      assert.equal(verifies(data, flipped(signature, at)), false, `bit of octet ${at}`);
    }
    assert.equal(verifies(data, signature.subarray(1)), false);
    assert.equal(verifies(data, new Uint8Array()), false);
    assert.equal(verifies(data, sign(null, data, privateKey('ML-DSA-65', 'other'))), false);
  });

  test('under another OID is refused', () => {
    for (const other of [seq(oid(OID), NULL), ECDSA_SHA256, seq(oid('1.3.101.112'))]) {
      assert.equal(verifySignature(publicKey, other, data, signature), false);
    }
    const ec = certified(spkiOf(privateKey('P-256'))).publicKey;
    assert.equal(verifySignature(ec, algorithm.der, data, signature), false);
  });
});

describe('an ML-DSA-65 private key', () => {
  const secrets = secretsOf(KEY);
  const read = (der: Uint8Array): KeyObject => readPrivateKey(encodePem('PRIVATE KEY', der));

  for (const form of ML_DSA_FORMS) {
    test(`is read as ${form} (RFC 9881 §6)`, () => {
      const key = read(mlDsaPkcs8(form, secrets));
      assert.deepEqual(Buffer.from(publicKeyOf(key)), Buffer.from(spkiOf(KEY)));
      assert.ok(createPublicKey(key).equals(createPublicKey(KEY)));
    });
  }

  test('is refused if its seed and its expanded key differ (RFC 9881 §8.2)', () => {
    const { seed } = secretsOf(privateKey('ML-DSA-65', 'other'));
    const mixed = mlDsaPkcs8('both', { ...secrets, seed });
    refuses(() => read(mixed), 'KEY_MALFORMED', /damaged/);
  });

  test('is refused if it is damaged', () => {
    const expanded = Uint8Array.from(secrets.expanded);
    expanded[100] = (expanded[100] ?? 0) ^ 1;
    refuses(
      () => read(mlDsaPkcs8('expandedKey', { ...secrets, expanded })),
      'KEY_MALFORMED',
      /damaged/,
    );
    const seed = secrets.seed.subarray(1);
    refuses(() => read(mlDsaPkcs8('seed', { ...secrets, seed })), 'KEY_MALFORMED', /damaged/);
  });
});

/** ML-DSA signatures in a chain, wherever in it they are. */
for (const [law, rootKind, issuingKind] of [
  ['below an ML-DSA-65 root', 'ML-DSA-65', 'P-256'],
  ['below an ML-DSA-65 intermediate', 'P-256', 'ML-DSA-65'],
] as const) {
  test(`a leaf ${law} has a path, and one with a bad signature has none`, () => {
    const made = (name: string, kind: typeof rootKind): KeyObject =>
      privateKey(kind, `path ${name}`);
    const root = link('root', {
      key: made('root', rootKind),
      algorithm: signatureAlgorithm(made('root', rootKind)).der,
      extensions: [ca(), usage(), ...keyIds('root')],
    });
    const issuing = link('issuing', {
      key: made('issuing', issuingKind),
      by: root,
      algorithm: signatureAlgorithm(root.key).der,
      extensions: [ca(0), usage(), ...keyIds('issuing', 'root')],
    });
    const parts = { by: issuing, algorithm: signatureAlgorithm(issuing.key).der };
    const leaf = link('leaf', parts).certificate;
    const input = {
      leaf,
      intermediates: [issuing.certificate],
      anchors: [root.certificate],
      now: NOW,
    };
    assert.equal(verifyPath(input).length, 3);
    const bent = Uint8Array.from(leaf.signature);
    bent[20] = (bent[20] ?? 0) ^ 1;
    refuses(
      () => verifyPath({ ...input, leaf: { ...leaf, signature: bent } }),
      'PATH_INVALID',
      /signature/,
      'authority',
    );
  });
}
