// SPDX-License-Identifier: Apache-2.0
import { sign } from 'node:crypto';
import { NULL, bits, int, oid, seq, tlv } from '../../support/pki/der.ts';
import { privateKey, signatureBy, spkiOf } from '../../support/pki/keys.ts';
import { ECDSA_SHA256, RSA_SHA256 } from '../../support/pki/request-der.ts';
import { encodeTree, nodeAtPath, parseTree } from '../tree.ts';
import { request } from './bases.ts';
import { casesOf, type Case, type Table } from './case.ts';
import {
  RSA,
  ECDSA,
  type Signing,
  p256,
  ecdsa,
  rsa,
  rewritten,
  N,
  number,
  edited,
  plain,
  edPlain,
  withLast,
  addOrder,
  pss,
  withoutZero,
} from './signing.ts';

const SIGNATURE = 'RFC 2986 §4.2';

function signed({ key, algorithm, sign: make }: Signing): Uint8Array {
  const spki = spkiOf(key);
  const info = encodeTree(nodeAtPath(parseTree(request({ spki, algorithm })), [0]));
  return request({ spki, algorithm, signature: bits(make(info)) });
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
  'pss-short': [
    'the first octet of the signature, a zero, is left out',
    'RFC 8017 §8.1.2',
    { ...pss(), sign: withoutZero(pss()) },
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
    { ...plain, sign: (info) => signatureBy(privateKey('P-256', 'other'), info) },
  ],
  'ecdsa-other-bytes': [
    'the signature is over other octets',
    SIGNATURE,
    { ...plain, sign: () => signatureBy(p256, Buffer.from('x')) },
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
