// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, test } from 'node:test';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { verifyProofOfPossession } from '#pki/keys/signature-verification.ts';

const UID = Buffer.from('9a6b2c1e-0000-4000-8000-000000000001');

/** As the kubelets of 1.35 make it (pkg/kubelet/podcertificate, v1beta1). */
function proof(key: KeyObject, message: Uint8Array): Buffer {
  if (key.asymmetricKeyType === 'ed25519') return sign(null, message, key);
  if (key.asymmetricKeyType === 'ec') return sign('sha256', message, key);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return sign('sha256', message, {
    key,
    padding,
    saltLength: constants.RSA_PSS_SALTLEN_MAX_SIGN,
  });
}

const KINDS: readonly TestKey[] = ['P-256', 'P-384', 'P-521', 'Ed25519', 'RSA-3072'];

for (const kind of KINDS) {
  describe(`a proof of possession with ${kind}`, () => {
    const key = privateKey(kind);
    const publicKey = decodePublicKey(spkiOf(key));
    const refused = (message: Uint8Array, signature: Uint8Array): void =>
      refuses(
        () => verifyProofOfPossession(publicKey, message, signature),
        'REQUEST_SIGNATURE',
        /proof of possession/,
      );

    test('over the UID of the pod is accepted', () => {
      assert.doesNotThrow(() => verifyProofOfPossession(publicKey, UID, proof(key, UID)));
    });
    test('over another UID is refused', () => refused(UID, proof(key, Buffer.from('other'))));
    test('by another key is refused', () => refused(UID, proof(privateKey(kind, 'other'), UID)));
    test('with one bit changed is refused', () => {
      const bent = proof(key, UID);
      bent[bent.length - 1] = (bent.at(-1) ?? 0) ^ 1;
      refused(UID, bent);
    });
    test('of the wrong length is refused', () => {
      const good = proof(key, UID);
      for (const bad of [Buffer.alloc(0), good.subarray(1), Buffer.concat([good, Buffer.of(0)])]) {
        refused(UID, bad);
      }
    });
  });
}

test('a proof without its leading zero octet is refused (RFC 8017 §8.1.2 step 1)', () => {
  const key = privateKey('RSA-2048');
  const publicKey = decodePublicKey(spkiOf(key));
  const firstZero = (): Buffer => {
    // One of 256 salts gives such a signature.
    for (;;) {
      const found = proof(key, UID);
      if (found[0] === 0) return found;
    }
  };
  const whole = firstZero();
  assert.doesNotThrow(() => verifyProofOfPossession(publicKey, UID, whole));
  refuses(
    () => verifyProofOfPossession(publicKey, UID, whole.subarray(1)),
    'REQUEST_SIGNATURE',
    /proof of possession/,
  );
});

test('a PKCS#1 v1.5 signature is no proof of possession', () => {
  const key = privateKey('RSA-3072');
  const publicKey = decodePublicKey(spkiOf(key));
  refuses(
    () => verifyProofOfPossession(publicKey, UID, sign('sha256', UID, key)),
    'REQUEST_SIGNATURE',
    /proof/,
  );
});

test('an Ed25519 signature with S above the order is refused (RFC 8032 §5.1.7)', () => {
  const key = privateKey('Ed25519');
  const signature = proof(key, UID);
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order;
  const bytes = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
  const malleable = Buffer.concat([signature.subarray(0, 32), bytes]);
  refuses(
    () => verifyProofOfPossession(decodePublicKey(spkiOf(key)), UID, malleable),
    'REQUEST_SIGNATURE',
    /proof/,
  );
});

test('a proof by an RSA key of 768 bits is refused', () => {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 768 });
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const signature = sign('sha256', UID, { key, padding, saltLength: 32 });
  refuses(
    () => verifyProofOfPossession(decodePublicKey(spkiOf(key)), UID, signature),
    'REQUEST_SIGNATURE',
    /proof/,
  );
});
