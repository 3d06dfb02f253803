// SPDX-License-Identifier: Apache-2.0
import { constants, sign, type KeyObject } from 'node:crypto';
import { privateKey, signatureBy } from '../../support/pki/keys.ts';
import { ECDSA_SHA256, ED25519 } from '../../support/pki/request-der.ts';
import { NULL, explicit, int, oid, seq, tlv } from '../../support/pki/der.ts';

/** Prefixes of OIDs. */
export const RSA = '1.2.840.113549.1.1';

export const ECDSA = '1.2.840.10045.4';

/** What signs the info of a request, and under which algorithm. */
export interface Signing {
  readonly key: KeyObject;
  readonly algorithm: Uint8Array;
  readonly sign: (info: Uint8Array) => Uint8Array;
}

export const p256 = privateKey('P-256');

export const ed25519 = privateKey('Ed25519');

const rsaKey = privateKey('RSA-2048');

export const ecdsa = (algorithm: Uint8Array, digest = 'sha256', key = p256): Signing => ({
  key,
  algorithm,
  sign: (info) => signatureBy(key, info, digest),
});

export const rsa = (algorithm: Uint8Array, digest = 'sha256'): Signing => ({
  key: rsaKey,
  algorithm,
  sign: (info) => sign(digest, info, rsaKey),
});

/** The two numbers of an ECDSA signature, written in another way. */
export const rewritten = (write: (r: bigint, s: bigint) => Uint8Array): Signing => ({
  key: p256,
  algorithm: ECDSA_SHA256,
  sign: (info) => {
    const raw = sign('sha256', info, { key: p256, dsaEncoding: 'ieee-p1363' }).toString('hex');
    return write(BigInt(`0x${raw.slice(0, 64)}`), BigInt(`0x${raw.slice(64)}`));
  },
});

export const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

export function number(value: bigint, padding: readonly number[] = []): Uint8Array {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return tlv(0x02, padding, (octets[0] ?? 0) >= 0x80 ? [0, ...octets] : octets);
}

export const edited = (change: (signature: Uint8Array) => Uint8Array, of: Signing): Signing => ({
  ...of,
  sign: (info) => change(of.sign(info)),
});

export const plain = ecdsa(ECDSA_SHA256);

export const edPlain: Signing = {
  key: ed25519,
  algorithm: ED25519,
  sign: (info) => sign(null, info, ed25519),
};

export const withLast =
  (octet: number) =>
  (signature: Uint8Array): Uint8Array => {
    const copy = Uint8Array.from(signature);
    copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ octet;
    return copy;
  };

/** RFC 8032 §5.1.7: S must be below the order of the group. */
export function addOrder(signature: Uint8Array): Uint8Array {
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

export function pss(wanted: Pss = {}): Signing {
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

/** One salt of 256 gives a signature whose first octet is zero; it is left out. */
export const withoutZero =
  ({ sign: make }: Signing) =>
  (info: Uint8Array): Uint8Array => {
    for (;;) {
      const signature = make(info);
      if (signature[0] === 0) return signature.subarray(1);
    }
  };
