// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { checkPrimeSync, generatePrimeSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { areFactorsClose } from '#pki/keys/fermat.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { isRoca } from '#pki/keys/roca.ts';
import { bits, oid, seq } from '../../support/pki/der.ts';
import { privateKey, spkiOf, type TestKey } from '../../support/pki/keys.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { rsaSpki } from '../../support/pki/rsa-spki.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';

const check = (modulus: bigint, exponent?: bigint): void =>
  checkKey(decodePublicKey(rsaSpki(modulus, exponent)));

/** A modulus of a sound key. */
function soundModulus(kind: TestKey = 'RSA-2048'): bigint {
  const { n = '' } = privateKey(kind).export({ format: 'jwk' });
  return BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`);
}

/** One round of the test is enough to make a modulus. */
const isPrime = (n: bigint): boolean => checkPrimeSync(n, { checks: 1 });

/** The least prime from `from` on. */
function nextPrime(from: bigint): bigint {
  for (let n = from | 1n; ; n += 2n) {
    if (isPrime(n)) return n;
  }
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

const prime = (size: number): bigint => generatePrimeSync(size, { bigint: true });

describe('an RSA key is refused', () => {
  test('below 2048 bits', () => {
    refuses(
      () => checkKey(decodePublicKey(spkiOf(privateKey('RSA-1024')))),
      'KEY_WEAK',
      /1024 bits/,
    );
    refuses(() => check((1n << 511n) + 1n), 'KEY_WEAK', /512 bits/);
    refuses(() => check((1n << 2046n) + 1n), 'KEY_WEAK', /2047 bits/);
  });
  test('above 8192 bits', () => {
    refuses(() => check((1n << 8199n) + 1n), 'KEY_WEAK', /8200 bits, more than 8192/);
    refuses(() => check((1n << 16_799n) + 1n), 'DER_LIMIT', /./);
  });
  test('of a size that is not a multiple of eight bits', () => {
    refuses(() => check((1n << 3064n) + 1n), 'KEY_WEAK', /3065 bits/);
  });
  for (const exponent of [1n, 2n, 3n, 17n, 65_535n, 65_536n, 65_538n]) {
    test(`with the exponent ${exponent}`, () => {
      refuses(() => check(soundModulus(), exponent), 'KEY_WEAK', /exponent/);
    });
  }
  test('with an even modulus', () => {
    refuses(() => check(soundModulus() + 1n), 'KEY_WEAK', /factor|even/);
  });
  for (const factor of [3n, 5n, 7n, 743n, 751n]) {
    test(`with a modulus divisible by ${factor}`, () => {
      const multiple = soundModulus() - (soundModulus() % (2n * factor)) + factor;
      refuses(() => check(multiple), 'KEY_WEAK', /small factor/);
    });
  }
  test('with factors close to each other', () => {
    const p = prime(1024);
    refuses(() => check(p * nextPrime(p + 2n)), 'KEY_WEAK', /CVE-2022-26320/);
  });
  test('whose modulus is the square of a prime', () => {
    refuses(() => check(prime(1024) ** 2n), 'KEY_WEAK', /close/);
  });
  test('with the fingerprint of ROCA', () => {
    refuses(() => check(rocaModulus()), 'KEY_WEAK', /CVE-2017-15361/);
  });
});

test('sound RSA keys of all allowed sizes are accepted', () => {
  check(soundModulus());
  check(soundModulus(), 65_539n);
  check(soundModulus('RSA-4096'));
});

/**
 * p·q with p = k·M + (65537^a mod M) and M the product of the first 126 primes, as CVE-2017-15361.
 */
function rocaModulus(): bigint {
  const primes = Array.from({ length: 702 }, (_, n) => BigInt(n)).filter(
    (n) =>
      n > 1n &&
      !Array.from({ length: 26 }, (_, d) => BigInt(d + 2)).some((d) => d < n && n % d === 0n),
  );
  const product = primes.slice(0, 126).reduce((all, each) => all * each, 1n);
  const weak = (exponent: bigint): bigint => {
    const residue = power(65_537n, exponent, product);
    // 2^1023.5 and more, so that the product of two has 2048 bits.
    const from = (3n << 1022n) / product;
    for (let k = from; ; k++) {
      const candidate = k * product + residue;
      if (isPrime(candidate)) return candidate;
    }
  };
  return weak(123_456_789n) * weak(987_654_321n);
}

test('the ROCA check refuses fewer than one sound modulus in 2²⁵', () => {
  const primes = Array.from({ length: 166 }, (_, i) => BigInt(i + 2)).filter((n) =>
    Array.from({ length: 12 }, (_, i) => BigInt(i + 2)).every((d) => n === d || n % d !== 0n),
  );
  const product = primes.reduce((all, each) => all * each, 1n);
  // Of the residues modulo one prime, those with the fingerprint; modulo all others it is 1, a
  // power.
  const accepted = (p: bigint): number => {
    const others = product / p;
    const unit = others * power(others, p - 2n, p);
    const residues = Array.from({ length: Number(p) - 1 }, (_, i) => BigInt(i + 1));
    return residues.filter((residue) => isRoca(1n + (residue - 1n) * unit)).length;
  };
  const share = primes.reduce((all, p) => all * (accepted(p) / Number(p - 1n)), 1);
  assert.ok(share < 2 ** -25, String(share));
  assert.ok(share > 0, 'some modulus has the fingerprint');
  assert.equal(isRoca(soundModulus()), false);
});

/** The integer part of a square root, bit by bit. */
function squareRoot(n: bigint): bigint {
  let root = 0n;
  for (let bit = 1n << BigInt(n.toString(2).length); bit > 0n; bit >>= 1n) {
    if ((root | bit) ** 2n <= n) root |= bit;
  }
  return root;
}

test('Fermat factorisation finds factors of squares and neighbours of any size', () => {
  const numbers = [4n, 6n, 8n, 10n, 16n, 100n, 2n ** 32n, 2n ** 64n, 2n ** 512n, prime(512) + 1n];
  for (const n of numbers) {
    assert.equal(areFactorsClose(n * n), true, String(n));
    assert.equal(areFactorsClose((n - 1n) * (n + 1n)), true, String(n));
  }
});

test('Fermat factorisation finds close factors and no others', () => {
  assert.equal(areFactorsClose(101n * 103n), true);
  assert.equal(areFactorsClose(prime(512) * prime(512)), false);
});

test('Fermat factorisation runs a hundred rounds, as in Boulder', () => {
  // Of a² − b² the search begins at √n, b²/2a below a.
  const middle = 3n << 1022n;
  const apart = (rounds: bigint): bigint => {
    const b = squareRoot(2n * middle * rounds);
    return (middle + b) * (middle - b);
  };
  assert.equal(areFactorsClose(apart(99n)), true);
  assert.equal(areFactorsClose(apart(101n)), false);
});

describe('an Ed25519 key of small order is refused', () => {
  const P = 2n ** 255n - 19n;
  const y8 = [
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ];
  const little = (value: bigint): string =>
    Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex');
  const points = [...y8, ...[0n, 1n, P - 1n, P, P + 1n].map(little)];
  for (const hex of points) {
    for (const sign of [0, 0x80]) {
      test(`${hex} with sign bit ${sign >> 7}`, () => {
        const octets = Buffer.from(hex, 'hex');
        octets[31] = (octets[31] ?? 0) | sign;
        const key = decodePublicKey(seq(seq(oid('1.3.101.112')), bits(octets)));
        refuses(() => checkKey(key), 'KEY_WEAK', /small order/);
      });
    }
  }
});
