// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, test } from 'node:test';
import { Integer, ObjectIdentifier, Sequence, Set as Asn1Set } from 'asn1js';
import fc from 'fast-check';
import {
  CertificationRequest as PkijsRequest,
  CryptoEngine,
  Extension as PkijsExtension,
  PublicKeyInfo,
} from 'pkijs';
import { decodeRequest, isEmptyStub, verifyRequest } from '#pki/x509/pkcs10.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { NULL, bits, explicit, int, oid, seq, set, utf8 } from '../../support/pki/der.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { leafFields, nameParts } from '../../support/pki/leaf-fields.ts';
import {
  bufferOf,
  pkijsExtensionRequest,
  pkijsName,
  pkijsNames,
} from '../../support/pki/pkijs-encoding.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { ECDSA_SHA256, ED25519, RSA_SHA256, requestDer } from '../../support/pki/request-der.ts';

const NO_NAMES = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

describe('encodeRequest', () => {
  test('writes what pkijs writes, byte for byte', () => {
    const key = privateKey('P-256');
    fc.assert(
      fc.property(leafFields, ({ subject, sans }) => {
        const request = decodeRequest(encodeRequest({ subject, sans, key }));
        const san = new PkijsExtension({
          extnID: '2.5.29.17',
          critical: false,
          extnValue: pkijsNames(sans).toBER(false),
        });
        const attributes = new Sequence({
          value: [
            new Sequence({
              value: [
                new ObjectIdentifier({ value: EXTENSION_REQUEST }),
                new Asn1Set({ value: [pkijsExtensionRequest([san])] }),
              ],
            }),
          ],
        });
        attributes.idBlock.tagClass = 3;
        attributes.idBlock.tagNumber = 0;
        const info = new Sequence({
          value: [
            new Integer({ value: 0 }),
            pkijsName(subject).toSchema(),
            PublicKeyInfo.fromBER(bufferOf(spkiOf(key))).toSchema(),
            attributes,
          ],
        });
        assert.deepEqual(Buffer.from(request.info), Buffer.from(info.toBER(false)));
      }),
      { numRuns: 100 },
    );
  });

  test('is the inverse of decodeRequest', () => {
    fc.assert(
      fc.property(leafFields, ({ subject, sans }) => {
        const der = encodeRequest({ subject, sans, key: privateKey('Ed25519') });
        const request = decodeRequest(der);
        assert.deepEqual(
          request.subject.attributes.map(({ value }) => value).join('\n'),
          [
            ...subject.organizations,
            ...subject.organizationalUnits,
            ...(subject.commonName === '' ? [] : [subject.commonName]),
          ].join('\n'),
        );
        assert.deepEqual(request.sans, { ...sans, other: 0 });
        assert.deepEqual(request.raw, der);
      }),
      { numRuns: 100 },
    );
  });

  for (const kind of ['P-256', 'P-384', 'P-521', 'RSA-2048'] as const) {
    test(`signs with ${kind}, and pkijs verifies it`, async () => {
      const der = encodeRequest({
        subject: nameParts('a'),
        sans: { ...NO_NAMES, dnsNames: ['a.example'] },
        key: privateKey(kind),
      });
      const engine = new CryptoEngine({ name: 'node', crypto: globalThis.crypto });
      assert.equal(await PkijsRequest.fromBER(bufferOf(der)).verify(engine), true);
    });
  }
});

describe('a stub counts as empty', () => {
  const stub = (subject: Parameters<typeof nameParts>[0], dnsNames: readonly string[]): boolean =>
    isEmptyStub(
      decodeRequest(
        encodeRequest({
          subject: nameParts(subject),
          sans: { ...NO_NAMES, dnsNames },
          key: privateKey('P-256'),
        }),
      ),
    );

  test('when it has neither a subject nor attributes', () => {
    assert.equal(stub('', []), true);
    assert.equal(stub('a', []), false);
    assert.equal(stub('', ['a.example']), false);
  });

  test('but not when it has an unknown attribute', () => {
    const attributes = [seq(oid('1.2.840.113549.1.9.7'), set(utf8('secret')))];
    assert.equal(isEmptyStub(decodeRequest(requestDer({ attributes }))), false);
  });
});

/** RSASSA-PSS-params (RFC 4055 §3.1). */
const pss = (hash: string, salt: number, mask = hash, parameter: Uint8Array = NULL): Uint8Array =>
  seq(
    oid('1.2.840.113549.1.1.10'),
    seq(
      explicit(0, seq(oid(hash), parameter)),
      explicit(1, seq(oid('1.2.840.113549.1.1.8'), seq(oid(mask), parameter))),
      explicit(2, int(salt)),
    ),
  );

const SHA1 = '1.3.14.3.2.26';
const SHA256 = '2.16.840.1.101.3.4.2.1';
const SHA512 = '2.16.840.1.101.3.4.2.3';

interface Signing {
  readonly kind: TestKey;
  readonly algorithm: Uint8Array;
  readonly hash: string | null;
  /** Of PSS. */
  readonly salt?: number;
}

function signed({ kind, algorithm, hash, salt }: Signing, signer?: KeyObject): Uint8Array {
  const key = privateKey(kind);
  const info = seq(int(0), seq(), spkiOf(key), explicit(0));
  const padding = salt === undefined ? {} : { padding: constants.RSA_PKCS1_PSS_PADDING };
  const signature = sign(hash, info, {
    key: signer ?? key,
    ...padding,
    ...(salt === undefined ? {} : { saltLength: salt }),
  });
  return seq(info, algorithm, bits(signature));
}

const ecdsa = (n: number): Uint8Array => seq(oid(`1.2.840.10045.4.3.${n}`));
const rsa = (n: number): Uint8Array => seq(oid(`1.2.840.113549.1.1.${n}`), NULL);

describe('a signature is verified', () => {
  const rows: Readonly<Record<string, Signing>> = {
    'of ECDSA P-256 with SHA-256': { kind: 'P-256', algorithm: ECDSA_SHA256, hash: 'sha256' },
    'of ECDSA P-256 with SHA-512': { kind: 'P-256', algorithm: ecdsa(4), hash: 'sha512' },
    'of ECDSA P-384 with SHA-384': { kind: 'P-384', algorithm: ecdsa(3), hash: 'sha384' },
    'of ECDSA P-521 with SHA-512': { kind: 'P-521', algorithm: ecdsa(4), hash: 'sha512' },
    'of Ed25519': { kind: 'Ed25519', algorithm: ED25519, hash: null },
    'of RSA with SHA-256': { kind: 'RSA-2048', algorithm: RSA_SHA256, hash: 'sha256' },
    'of RSA with SHA-384': { kind: 'RSA-2048', algorithm: rsa(12), hash: 'sha384' },
    'of RSA with SHA-512': { kind: 'RSA-2048', algorithm: rsa(13), hash: 'sha512' },
    'of RSA-PSS with SHA-256': {
      kind: 'RSA-2048',
      algorithm: pss(SHA256, 32),
      hash: 'sha256',
      salt: 32,
    },
    'of RSA-PSS with SHA-512, as OpenSSL writes it': {
      kind: 'RSA-2048',
      algorithm: pss(SHA512, 64, SHA512, new Uint8Array()),
      hash: 'sha512',
      salt: 64,
    },
  };
  for (const [name, row] of Object.entries(rows)) {
    test(name, () => verifyRequest(decodeRequest(signed(row))));
    test(`${name}, and refused with one bit changed`, () => {
      const der = signed(row);
      const last = der.length - 2;
      der[last] = (der[last] ?? 0) ^ 1;
      refuses(() => verifyRequest(decodeRequest(der)), 'REQUEST_SIGNATURE', /does not verify/);
    });
  }
});

describe('a signature is refused', () => {
  const rows: Readonly<Record<string, readonly [Signing, RegExp]>> = {
    'of ECDSA with SHA-1': [
      { kind: 'P-256', algorithm: seq(oid('1.2.840.10045.4.1')), hash: 'sha1' },
      /are not supported/,
    ],
    'of ECDSA with SHA-224': [
      { kind: 'P-256', algorithm: ecdsa(1), hash: 'sha224' },
      /are not supported/,
    ],
    'of ECDSA with parameters': [
      { kind: 'P-256', algorithm: seq(oid('1.2.840.10045.4.3.2'), int(1)), hash: 'sha256' },
      /are not supported/,
    ],
    'of Ed25519 with parameters': [
      { kind: 'Ed25519', algorithm: seq(oid('1.3.101.112'), NULL), hash: null },
      /are not supported/,
    ],
    'of RSA with MD5': [{ kind: 'RSA-2048', algorithm: rsa(4), hash: 'md5' }, /are not supported/],
    'of RSA with SHA-1': [
      { kind: 'RSA-2048', algorithm: rsa(5), hash: 'sha1' },
      /are not supported/,
    ],
    'of RSA-PSS with SHA-1': [
      { kind: 'RSA-2048', algorithm: pss(SHA1, 20), hash: 'sha1', salt: 20 },
      /are not supported/,
    ],
    'of RSA-PSS with another hash in its mask': [
      { kind: 'RSA-2048', algorithm: pss(SHA256, 32, SHA1), hash: 'sha256', salt: 32 },
      /are not supported/,
    ],
    'of RSA-PSS with a short salt': [
      { kind: 'RSA-2048', algorithm: pss(SHA256, 20), hash: 'sha256', salt: 20 },
      /are not supported/,
    ],
    'of RSA-PSS with a salt of another length than it says': [
      { kind: 'RSA-2048', algorithm: pss(SHA256, 32), hash: 'sha256', salt: 20 },
      /does not verify/,
    ],
    'under the name of another hash': [
      { kind: 'P-256', algorithm: ecdsa(3), hash: 'sha256' },
      /does not verify/,
    ],
    'under the name of another kind of key': [
      { kind: 'P-256', algorithm: RSA_SHA256, hash: 'sha256' },
      /has an algorithm for RSA keys, but the key is ECDSA/,
    ],
  };
  for (const [name, [row, message]] of Object.entries(rows)) {
    test(name, () =>
      refuses(() => verifyRequest(decodeRequest(signed(row))), 'REQUEST_SIGNATURE', message),
    );
  }

  test('by an RSA key of 512 bits, as in Go', () => {
    const key = generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey;
    const der = requestDer({ key, spki: spkiOf(key), algorithm: RSA_SHA256 });
    refuses(() => verifyRequest(decodeRequest(der)), 'REQUEST_SIGNATURE', /RSA key of 512 bits/);
  });

  test('by another key', () => {
    const row = { kind: 'P-256', algorithm: ECDSA_SHA256, hash: 'sha256' } as const;
    const der = signed(row, privateKey('P-256', 'somebody else'));
    refuses(() => verifyRequest(decodeRequest(der)), 'REQUEST_SIGNATURE', /does not verify/);
  });

  test('of empty or malformed bytes', () => {
    for (const signature of [bits([]), bits([0x30, 0]), bits(new Uint8Array(64))]) {
      const request = decodeRequest(requestDer({ signature }));
      refuses(() => verifyRequest(request), 'REQUEST_SIGNATURE', /does not verify/);
    }
  });

  test('over another subject', () => {
    const other = requestDer({ subject: seq(set(seq(oid('2.5.4.3'), utf8('b')))) });
    const { signature } = decodeRequest(requestDer());
    const request = { ...decodeRequest(other), signature };
    refuses(() => verifyRequest(request), 'REQUEST_SIGNATURE', /does not verify/);
  });
});
