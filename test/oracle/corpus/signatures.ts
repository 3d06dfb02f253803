// SPDX-License-Identifier: Apache-2.0
import { constants, sign, type KeyObject } from 'node:crypto';
import { NULL, bits, explicit, int, oid, seq, tlv } from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { ECDSA_SHA256, ED25519, RSA_SHA256 } from '../../support/pki/request-der.ts';
import { encodeTree, nodeAtPath, parseTree } from '../tree.ts';
import { request } from './bases.ts';
import { casesOf, type Case, type Table } from './case.ts';

const RSA = '1.2.840.113549.1.1';
const ECDSA = '1.2.840.10045.4';
const SIGNATURE = 'RFC 2986 §4.2';

/** What signs the info of a request, and under which algorithm. */
interface Signing {
  readonly key: KeyObject;
  readonly algorithm: Uint8Array;
  readonly sign: (info: Uint8Array) => Uint8Array;
}

function signed({ key, algorithm, sign: make }: Signing): Uint8Array {
  const spki = spkiOf(key);
  const info = encodeTree(nodeAtPath(parseTree(request({ spki, algorithm })), [0]));
  return request({ spki, algorithm, signature: bits(make(info)) });
}

const p256 = privateKey('P-256');
const ed25519 = privateKey('Ed25519');
const rsaKey = privateKey('RSA-2048');

const ecdsa = (algorithm: Uint8Array, digest = 'sha256', key = p256): Signing => ({
  key,
  algorithm,
  sign: (info) => sign(digest, info, key),
});
const rsa = (algorithm: Uint8Array, digest = 'sha256'): Signing => ({
  key: rsaKey,
  algorithm,
  sign: (info) => sign(digest, info, rsaKey),
});

/** The two numbers of an ECDSA signature, written in another way. */
const rewritten = (write: (r: bigint, s: bigint) => Uint8Array): Signing => ({
  key: p256,
  algorithm: ECDSA_SHA256,
  sign: (info) => {
    const raw = sign('sha256', info, { key: p256, dsaEncoding: 'ieee-p1363' }).toString('hex');
    return write(BigInt(`0x${raw.slice(0, 64)}`), BigInt(`0x${raw.slice(64)}`));
  },
});

const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function number(value: bigint, padding: readonly number[] = []): Uint8Array {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return tlv(0x02, padding, (octets[0] ?? 0) >= 0x80 ? [0, ...octets] : octets);
}

const edited = (change: (signature: Uint8Array) => Uint8Array, of: Signing): Signing => ({
  ...of,
  sign: (info) => change(of.sign(info)),
});
const plain = ecdsa(ECDSA_SHA256);
const edPlain: Signing = {
  key: ed25519,
  algorithm: ED25519,
  sign: (info) => sign(null, info, ed25519),
};
const withLast =
  (octet: number) =>
  (signature: Uint8Array): Uint8Array => {
    const copy = Uint8Array.from(signature);
    copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ octet;
    return copy;
  };

/** RFC 8032 §5.1.7: S must be below the order of the group. */
function addOrder(signature: Uint8Array): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order;
  const octets = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
  return Buffer.concat([signature.subarray(0, 32), octets]);
}

const HASHES = {
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  sha1: '1.3.14.3.2.26',
};

interface Pss {
  readonly digest?: keyof typeof HASHES;
  readonly maskDigest?: keyof typeof HASHES;
  readonly salt?: number;
  readonly parameters?: Uint8Array;
}

function pss(wanted: Pss = {}): Signing {
  const { digest = 'sha256', maskDigest = digest, salt = 32 } = wanted;
  const hash = seq(oid(HASHES[digest]), NULL);
  const mask = seq(oid(`${RSA}.8`), seq(oid(HASHES[maskDigest]), NULL));
  const parameters =
    wanted.parameters ?? seq(explicit(0, hash), explicit(1, mask), explicit(2, int(salt)));
  return {
    key: rsaKey,
    algorithm: seq(oid(`${RSA}.10`), parameters),
    sign: (info) =>
      sign(digest, info, {
        key: rsaKey,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: salt,
      }),
  };
}

const SIGNATURES: Table<Signing> = {
  'ecdsa-sha256': ['', 'RFC 5758 §3.2', plain],
  'ecdsa-sha384': ['', 'RFC 5758 §3.2', ecdsa(seq(oid(`${ECDSA}.3.3`)), 'sha384')],
  'ecdsa-sha512': ['', 'RFC 5758 §3.2', ecdsa(seq(oid(`${ECDSA}.3.4`)), 'sha512')],
  ed25519: ['', 'RFC 8410 §6', edPlain],
  'rsa-sha256': ['', 'RFC 4055 §5', rsa(RSA_SHA256)],
  'rsa-sha384': ['', 'RFC 4055 §5', rsa(seq(oid(`${RSA}.12`), NULL), 'sha384')],
  'rsa-sha512': ['', 'RFC 4055 §5', rsa(seq(oid(`${RSA}.13`), NULL), 'sha512')],
  'rsa-no-parameters': ['', 'RFC 4055 §5', rsa(seq(oid(`${RSA}.11`)))],
  'pss-sha256': ['', 'RFC 4055 §3.1', pss()],
  'pss-sha384': ['', 'RFC 4055 §3.1', pss({ digest: 'sha384', salt: 48 })],
  'pss-sha512': ['', 'RFC 4055 §3.1', pss({ digest: 'sha512', salt: 64 })],
  'pss-defaults': [
    'the hash is SHA-1, which the defaults are',
    'RFC 4055 §3.1',
    pss({ digest: 'sha1', salt: 20, parameters: seq() }),
  ],
  'pss-no-parameters': [
    'there are no parameters',
    'RFC 4055 §3.1',
    { ...pss(), algorithm: seq(oid(`${RSA}.10`)) },
  ],
  'pss-other-mask': ['the mask has another hash', 'RFC 4055 §3.1', pss({ maskDigest: 'sha512' })],
  'pss-short-salt': ['the salt is shorter than the hash', 'RFC 4055 §3.1', pss({ salt: 20 })],
  'pss-no-salt': ['there is no salt', 'RFC 4055 §3.1', pss({ salt: 0 })],
  'pss-trailing': [
    'something follows the parameters',
    'X.690 §10',
    { ...pss(), algorithm: seq(oid(`${RSA}.10`), seq(), NULL) },
  ],
  'rsa-sha1': ['the hash is SHA-1', 'RFC 9155', rsa(seq(oid(`${RSA}.5`), NULL), 'sha1')],
  'rsa-md5': ['the hash is MD5', 'RFC 6151', rsa(seq(oid(`${RSA}.4`), NULL), 'md5')],
  'rsa-sha224': ['the hash is SHA-224', 'RFC 4055 §5', rsa(seq(oid(`${RSA}.14`), NULL), 'sha224')],
  'rsa-parameters': [
    'the parameters are an INTEGER',
    'RFC 4055 §5',
    rsa(seq(oid(`${RSA}.11`), int(1))),
  ],
  'rsa-long-null': [
    'the NULL of the parameters has an octet',
    'X.690 §8.8.2',
    rsa(seq(oid(`${RSA}.11`), tlv(0x05, [0]))),
  ],
  'rsa-other-hash': [
    'the signature is over another hash than it says',
    SIGNATURE,
    rsa(RSA_SHA256, 'sha384'),
  ],
  'rsa-leading-zero': [
    'the signature has an octet more',
    'RFC 8017 §8.2.2',
    edited((signature) => Uint8Array.of(0, ...signature), rsa(RSA_SHA256)),
  ],
  'rsa-short': [
    'the signature has an octet less',
    'RFC 8017 §8.2.2',
    edited((signature) => signature.subarray(1), rsa(RSA_SHA256)),
  ],
  'rsa-zero': [
    'the signature is 0',
    'RFC 8017 §8.2.2',
    edited((signature) => signature.map(() => 0), rsa(RSA_SHA256)),
  ],
  'ecdsa-sha1': ['the hash is SHA-1', 'RFC 9155', ecdsa(seq(oid(`${ECDSA}.1`)), 'sha1')],
  'ecdsa-sha224': [
    'the hash is SHA-224',
    'RFC 5758 §3.2',
    ecdsa(seq(oid(`${ECDSA}.3.1`)), 'sha224'),
  ],
  'ecdsa-null': [
    'the algorithm has NULL parameters',
    'RFC 5758 §3.2',
    ecdsa(seq(oid(`${ECDSA}.3.2`), NULL)),
  ],
  'ecdsa-other-key': [
    'another key signed',
    SIGNATURE,
    { ...plain, sign: (info) => sign('sha256', info, privateKey('P-256', 'other')) },
  ],
  'ecdsa-other-bytes': [
    'the signature is over other octets',
    SIGNATURE,
    { ...plain, sign: () => sign('sha256', Buffer.from('x'), p256) },
  ],
  'ecdsa-as-rsa': [
    'the algorithm is for RSA keys, the key is P-256',
    SIGNATURE,
    { ...plain, algorithm: RSA_SHA256 },
  ],
  'rsa-as-ecdsa': [
    'the algorithm is for ECDSA keys, the key is RSA',
    SIGNATURE,
    { ...rsa(RSA_SHA256), algorithm: ECDSA_SHA256 },
  ],
  'ed25519-as-ecdsa': [
    'the algorithm is for ECDSA keys, the key is Ed25519',
    SIGNATURE,
    { ...edPlain, algorithm: ECDSA_SHA256 },
  ],
  'unknown-algorithm': [
    'the algorithm is unknown',
    SIGNATURE,
    { ...plain, algorithm: seq(oid('1.2.3.4')) },
  ],
  'ecdsa-none': ['the signature is empty', SIGNATURE, { ...plain, sign: () => new Uint8Array() }],
  'ecdsa-raw': [
    'r and s stand without DER',
    'RFC 3279 §2.2.3',
    { ...plain, sign: (info) => sign('sha256', info, { key: p256, dsaEncoding: 'ieee-p1363' }) },
  ],
  'ecdsa-other-s': ['', 'SEC 1 §4.1.4', rewritten((r, s) => seq(number(r), number(N - s)))],
  'ecdsa-padded-r': [
    'r is padded',
    'X.690 §8.3.2',
    rewritten((r, s) => seq(number(r, [0, 0]), number(s))),
  ],
  'ecdsa-r-plus-n': [
    'r is not below the order',
    'SEC 1 §4.1.4',
    rewritten((r, s) => seq(number(r + N), number(s))),
  ],
  'ecdsa-s-plus-n': [
    's is not below the order',
    'SEC 1 §4.1.4',
    rewritten((r, s) => seq(number(r), number(s + N))),
  ],
  'ecdsa-zero': [
    'r and s are 0 (CVE-2022-21449)',
    'SEC 1 §4.1.4',
    rewritten(() => seq(int(0), int(0))),
  ],
  'ecdsa-negative': ['s is negative', 'SEC 1 §4.1.4', rewritten((r) => seq(number(r), int(0xff)))],
  'ecdsa-trailing': [
    'something follows r and s',
    'X.690 §10',
    edited((signature) => Uint8Array.of(...signature, 0), plain),
  ],
  'ecdsa-third-number': [
    'a third number follows r and s',
    'RFC 3279 §2.2.3',
    rewritten((r, s) => seq(number(r), number(s), int(1))),
  ],
  'ecdsa-long-form': [
    'the length of r and s has a needless octet',
    'X.690 §10.1',
    edited((signature) => Uint8Array.of(0x30, 0x81, ...signature.subarray(1)), plain),
  ],
  'ecdsa-set': [
    'r and s stand in a SET',
    'RFC 3279 §2.2.3',
    edited((signature) => Uint8Array.of(0x31, ...signature.subarray(1)), plain),
  ],
  'ed25519-s-plus-l': [
    'S is not below the order: two signatures for one',
    'RFC 8032 §5.1.7',
    edited(addOrder, edPlain),
  ],
  'ed25519-top-bit': ['a bit above S is set', 'RFC 8032 §5.1.7', edited(withLast(0x80), edPlain)],
  'ed25519-short': [
    'the signature has 63 octets',
    'RFC 8032 §5.1.6',
    edited((signature) => signature.subarray(1), edPlain),
  ],
  'ed25519-long': [
    'the signature has 65 octets',
    'RFC 8032 §5.1.6',
    edited((signature) => Uint8Array.of(...signature, 0), edPlain),
  ],
  'ed25519-zero': [
    'the signature is 0',
    'RFC 8032 §5.1.7',
    edited((signature) => signature.map(() => 0), edPlain),
  ],
  'ed25519-null': [
    'the algorithm has parameters',
    'RFC 8410 §3',
    { ...edPlain, algorithm: seq(oid('1.3.101.112'), NULL) },
  ],
};

export function signatures(): readonly Case[] {
  return casesOf('request', 'signature', SIGNATURES, signed);
}
