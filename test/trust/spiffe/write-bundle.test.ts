// SPDX-License-Identifier: Apache-2.0
/** Expectations: SPIFFE Trust Domain and Bundle §4, X509-SVID §6.1, RFC 7517 and RFC 7518 §6. */
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { writeBundle } from '#trust/spiffe/write-bundle.ts';
import { ca, link } from '../../support/pki/chain.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';

interface Document {
  readonly spiffe_refresh_hint: unknown;
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

const KINDS: readonly TestKey[] = ['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519'];

function anchorOf(kind: TestKey): ReturnType<typeof link> {
  return link(kind, { key: privateKey(kind), extensions: [ca()] });
}

test('each CA is a key of its own: its certificate alone in x5c, its use, no kid', () => {
  const anchors = KINDS.map((kind) => anchorOf(kind).certificate);
  const text = writeBundle({ anchors, sequence: 3n, refreshSeconds: 120 });
  const { keys, spiffe_refresh_hint: hint } = JSON.parse(text) as Document;
  assert.equal(hint, 120);
  assert.equal(keys.length, anchors.length);
  for (const [index, jwk] of keys.entries()) {
    assert.equal(jwk['use'], 'x509-svid');
    assert.ok(!('kid' in jwk));
    assert.deepEqual(jwk['x5c'], [Buffer.from(anchors[index]?.raw ?? []).toString('base64')]);
    // RFC 7517 §4.7: the key of the certificate is that of the other members.
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const spki = spkiOf(anchorOf(KINDS[index] ?? 'P-256').key);
    assert.deepEqual(new Uint8Array(key.export({ type: 'spki', format: 'der' })), spki);
    // No private member, and none that the specifications do not define (§4.2).
    const members = ['kty', 'use', 'x5c', 'crv', 'x', 'y', 'n', 'e'];
    assert.deepEqual(
      Object.keys(jwk).filter((each) => !members.includes(each)),
      [],
    );
  }
});

test('an empty set of keys is said: no SVID of the trust domain is valid', () => {
  const text = writeBundle({ anchors: [], sequence: 4n, refreshSeconds: 60 });
  assert.deepEqual(JSON.parse(text), { spiffe_sequence: 4, spiffe_refresh_hint: 60, keys: [] });
});

test('a sequence number of 64 bits is written as it is', () => {
  const text = writeBundle({
    anchors: [],
    sequence: 18_446_744_073_709_551_615n,
    refreshSeconds: 1,
  });
  assert.match(text, /"spiffe_sequence":18446744073709551615,/);
});
