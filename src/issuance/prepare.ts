// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';
import { decodeTbs } from '../pki/certificate.ts';
import { encodeTbs } from '../pki/tbs.ts';
import type { Random } from '../ports.ts';
import { leafExtensions, type LeafExtensionsInput } from './extensions.ts';
import type { Issuer } from './issuer.ts';
import { encodeLeafName } from './leaf-name.ts';
import { lint } from './lint/index.ts';
import { newSerial } from './serial.ts';
import type { Validity } from './validity.ts';

export interface PrepareInput extends Omit<LeafExtensionsInput, 'issuerKeyIdentifier'> {
  readonly issuer: Issuer;
  readonly validity: Validity;
  readonly random: Random;
}

/** Only this module can make a Prepared; a structurally equal object is refused by `#tbs`. */
const BRAND = Symbol('prepared');

/**
 * The to-be-signed bytes of one linted leaf: a token that one authority may spend once.
 *
 * It cannot be forged (the constructor wants a symbol that is not exported), nor be signed by
 * another CA than the one it names, nor be signed twice.
 */
export class Prepared {
  readonly validity: Validity;
  readonly #tbs: Uint8Array;
  readonly #fingerprint: string;
  #spent = false;

  constructor(brand: symbol, tbs: Uint8Array, issuer: Issuer, validity: Validity) {
    if (brand !== BRAND) throw new TypeError('a Prepared comes from prepare() only');
    this.#tbs = tbs;
    this.#fingerprint = issuer.fingerprint;
    this.validity = validity;
  }

  /**
   * Hands out the bytes to sign, once, to the CA they were made for.
   *
   * @throws SignerError PREPARED_SPENT (`retry`)
   */
  redeem(fingerprint: string): Uint8Array {
    if (this.#spent) throw refused('was signed already; prepare a new one');
    if (fingerprint !== this.#fingerprint) throw refused(`was made for ${this.#fingerprint}`);
    this.#spent = true;
    return this.#tbs;
  }

  /** The bytes that the signature must cover, for correspond(). */
  equals(tbs: Uint8Array): boolean {
    return Buffer.compare(this.#tbs, tbs) === 0;
  }
}

/**
 * Encodes and lints the to-be-signed part of a leaf.
 *
 * @throws SignerError LINT_FAILED (`wait`): we were about to sign something wrong
 */
export function prepare(input: PrepareInput): Prepared {
  const { issuer, validity } = input;
  const tbs = encodeTbs({
    serial: newSerial(input.random),
    signatureAlgorithm: issuer.signatureAlgorithm,
    issuer: issuer.subject,
    notBefore: validity.notBefore,
    notAfter: validity.notAfter,
    subject: encodeLeafName(input.subject),
    spki: input.publicKey.spki,
    extensions: leafExtensions({ ...input, issuerKeyIdentifier: issuer.keyIdentifier }),
  });
  lint(decodeTbs(tbs), issuer);
  return new Prepared(BRAND, tbs, issuer, validity);
}

function refused(reason: string): SignerError {
  return new SignerError({
    code: 'PREPARED_SPENT',
    disposition: 'retry',
    message: `the prepared certificate ${reason}`,
  });
}
