// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { constants, sign, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { requestedKey } from '#requests/pcr-issuer/requested-key.ts';
import { KEY_TYPES } from '#base/vocabulary.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { ECDSA_SHA256, ED25519, RSA_SHA256, requestDer } from '../../support/pki/request-der.ts';

const keyOf = (spec: Partial<PodCertificateRequest['spec']>): Buffer => {
  const found = requestedKey(podRequest(spec), KEY_TYPES);
  assert.ok(found.kind === 'key', JSON.stringify(found));
  return Buffer.from(found.publicKey.spki);
};

/** As k8s.io/kubernetes/pkg/apis/certificates/validation wants it: RSA-PSS, ECDSA, Ed25519. */
function prove(key: KeyObject): string {
  const message = Buffer.from(podRequest().spec.podUID);
  if (key.asymmetricKeyType === 'ed25519') return sign(null, message, key).toString('base64');
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
  const how = key.asymmetricKeyType === 'rsa' ? { key, padding, saltLength } : key;
  return sign('sha256', message, how).toString('base64');
}

const KINDS: readonly (readonly [TestKey, algorithm: Uint8Array])[] = [
  ['P-256', ECDSA_SHA256],
  ['P-384', ECDSA_SHA256],
  ['Ed25519', ED25519],
  ['RSA-3072', RSA_SHA256],
];

for (const [kind, algorithm] of KINDS) {
  test(`${kind}: the v1 stub and the v1beta1 public key give the same key`, () => {
    const key = privateKey(kind);
    const spki = Buffer.from(spkiOf(key));
    const stub = Buffer.from(requestDer({ key, algorithm })).toString('base64');
    assert.deepEqual(keyOf({ stubPKCS10Request: stub }), spki);
    const old = { pkixPublicKey: spki.toString('base64'), proofOfPossession: prove(key) };
    assert.deepEqual(keyOf({ stubPKCS10Request: '', ...old }), spki);
  });
}

test('an ML-DSA key is for CAs only: a pod that requests it is denied, not failed', () => {
  const spki = Buffer.from(spkiOf(privateKey('ML-DSA-65')));
  const stub = Buffer.from(requestDer({ spki })).toString('base64');
  const old = { stubPKCS10Request: '', pkixPublicKey: spki.toString('base64') };
  for (const spec of [{ stubPKCS10Request: stub }, old]) {
    const found = requestedKey(podRequest(spec), KEY_TYPES);
    assert.ok(found.kind === 'deny');
    assert.equal(found.reason, 'UnsupportedKeyType');
    assert.match(found.message, /^only CAs have ML-DSA-65 keys; /);
  }
});

test('the message lists key types without RSA2048, which the kubelet cannot generate', () => {
  const stub = Buffer.from(requestDer({ key: privateKey('P-521') })).toString('base64');
  const found = requestedKey(podRequest({ stubPKCS10Request: stub }), ['RSA2048', 'ED25519']);
  assert.ok(found.kind === 'deny');
  assert.match(found.message, /^ECDSAP521 is not allowed; key types that work: ED25519$/);
});
