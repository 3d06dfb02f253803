// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SignerError, type ErrorCode } from '#base/errors.ts';
import { decodeCertificate, decodeTbs } from '#pki/x509/certificate.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { octets, oid, seq, set, tlvWithLength, utf8 } from '../../support/pki/der.ts';
import { decodeName } from '../../support/pki/decode-name.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { requestDer } from '../../support/pki/request-der.ts';

const DECODERS: Readonly<Record<string, readonly [(der: Uint8Array) => unknown, Uint8Array]>> = {
  'a PKCS#10 request': [decodeRequest, requestDer()],
  'a certificate': [decodeCertificate, certificateDer()],
  'a to-be-signed part': [decodeTbs, decodeCertificate(certificateDer()).tbs],
  'a public key': [decodePublicKey, spkiOf(privateKey('P-256'))],
  'a name': [decodeName, seq(set(seq(oid('2.5.4.3'), utf8('a'))))],
};

const CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'DER_MALFORMED',
  'DER_LIMIT',
  'REQUEST_MALFORMED',
  'CERTIFICATE_MALFORMED',
  'KEY_MALFORMED',
  'KEY_UNSUPPORTED',
  'NAME_INVALID',
]);

/** Refused, in words of ours: no RangeError, no TypeError. */
function isRefused(run: () => unknown): void {
  assert.throws(run, (error: unknown) => {
    assert.ok(error instanceof SignerError, `not a SignerError: ${String(error)}`);
    assert.ok(CODES.has(error.code), error.code);
    assert.equal(error.disposition, 'fail');
    assert.ok(error.message.length < 1000, 'a message stays short');
    return true;
  });
}

for (const [what, [decode, good]] of Object.entries(DECODERS)) {
  describe(`a malformed ${what}`, () => {
    const body = good.subarray(good.findIndex((_, at) => at > 1 && good[at] === 0x30));

    test('control: the unchanged one is read', () => assert.ok(decode(good)));

    test('each proper prefix is refused', () => {
      for (let length = 0; length < good.length; length++) {
        isRefused(() => decode(good.subarray(0, length)));
      }
    });

    test('a trailing byte is refused', () => {
      isRefused(() => decode(Uint8Array.from([...good, 0])));
      isRefused(() => decode(Uint8Array.from([...good, ...good])));
    });

    test('BER lengths are refused', () => {
      const { length } = body;
      isRefused(() => decode(tlvWithLength(0x30, [0x80], [...body, 0, 0])));
      isRefused(() => decode(tlvWithLength(0x30, [0x83, 0, length >> 8, length & 255], body)));
      isRefused(() => decode(tlvWithLength(0x30, [0x84, 0, 0, length >> 8, length & 255], body)));
    });

    test('a huge declared length is refused without being allocated', () => {
      for (const lie of [
        [0x84, 0x7f, 0xff, 0xff, 0xff],
        [0x84, 0xff, 0xff, 0xff, 0xff],
        [0x88, ...good.subarray(0, 8)],
        [0xff],
      ]) {
        isRefused(() => decode(tlvWithLength(0x30, lie, body)));
      }
    });

    test('another outer tag is refused', () => {
      for (const tag of [0x00, 0x02, 0x10, 0x31, 0x3f, 0x70, 0xa0, 0xff]) {
        isRefused(() => decode(Uint8Array.from([tag, ...good.subarray(1)])));
      }
    });

    test('4,000 nested SEQUENCEs are refused', () => {
      let nested: Uint8Array = seq();
      for (let depth = 0; depth < 4_000; depth++) nested = seq(nested);
      isRefused(() => decode(nested));
      isRefused(() => decode(seq(nested, good)));
    });

    test('4,000 indefinite SEQUENCEs are refused', () => {
      isRefused(() =>
        decode(
          Uint8Array.from(Array.from({ length: 8_000 }, (_, i) => (i % 2 === 0 ? 0x30 : 0x80))),
        ),
      );
    });

    test('an empty input is refused', () => isRefused(() => decode(new Uint8Array())));

    test('an input of 2 MB is refused unread', () => {
      isRefused(() => decode(seq(octets(new Uint8Array(2_000_000)))));
    });
  });
}
