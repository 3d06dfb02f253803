// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../bytes.ts';
import { SignerError } from '../errors.ts';
import {
  decodeCertificateWith,
  decodeTbs,
  type Certificate,
  type TbsCertificate,
} from '../pki/x509/certificate.ts';
import { requirePossiblePath } from '../pki/x509/path.ts';
import { encodeCrossTbs, type CrossInput } from './cross-certificate.ts';
import type { SigningCa } from './signing-ca.ts';
import { encodeLeafTbs, type LeafTbsInput } from './leaf.ts';
import { CROSS_RULES, LEAF_RULES, lint } from './lint/index.ts';
import type { Validity } from './validity.ts';

export type PrepareInput = LeafTbsInput;

/** What is above a leaf: its issuer upwards without the root, and the roots. */
export interface IssuerChain {
  readonly intermediates: readonly Certificate[];
  readonly anchors: readonly Certificate[];
}

/** Only this module can make a Prepared; a structurally equal object is refused by `#tbs`. */
const BRAND = Symbol('prepared');

/**
 * The to-be-signed bytes of one linted certificate: a token that one authority may spend once.
 *
 * It cannot be forged (the constructor wants a symbol that is not exported), nor be signed by
 * another CA than the one it names, nor be signed twice.
 */
export class Prepared {
  readonly validity: Validity;
  readonly #tbs: Uint8Array;
  readonly #leaf: TbsCertificate;
  readonly #fingerprint: string;
  #spent = false;

  constructor(brand: symbol, tbs: Uint8Array, leaf: TbsCertificate, issuer: SigningCa) {
    if (brand !== BRAND) throw new TypeError('a Prepared comes from prepare() only');
    this.#tbs = tbs;
    this.#leaf = leaf;
    this.#fingerprint = issuer.fingerprint;
    this.validity = { notBefore: leaf.notBefore, notAfter: leaf.notAfter };
  }

  /**
   * Before it is redeemed: that the CA's chain allows its names, purposes and time. Found only after
   * signing, the same fault would cost one more signature with every retry.
   *
   * @throws SignerError PATH_INVALID (`authority`)
   */
  requirePath(chain: IssuerChain, now: number): void {
    requirePossiblePath({ leaf: this.#leaf, ...chain, now });
  }

  /**
   * Hands out the bytes to sign, once, to the CA they were made for: a copy, because what comes back is
   * compared with them. Not a method of the token: what only looks like one could bring its own.
   *
   * @throws SignerError PREPARED_SPENT (`retry`); TypeError where `prepared` is none
   */
  static consume(prepared: Prepared, fingerprint: string): Uint8Array {
    if (prepared.#spent) throw tokenError('was signed already; prepare a new one');
    if (fingerprint !== prepared.#fingerprint) {
      throw tokenError(`was made for ${prepared.#fingerprint}`);
    }
    prepared.#spent = true;
    return prepared.#tbs.slice();
  }

  /**
   * Reads a certificate, as decodeCertificate does. What was read before it was signed, byte for byte
   * the same, is not read a second time: it says the same.
   *
   * @throws SignerError as decodeCertificate
   */
  decode(der: Uint8Array): Certificate {
    return decodeCertificateWith(der, (tbs) => (this.equals(tbs) ? this.#leaf : decodeTbs(tbs)));
  }

  /** The bytes that the signature must cover, for correspond(). */
  equals(tbs: Uint8Array): boolean {
    return sameBytes(this.#tbs, tbs);
  }
}

/**
 * Encodes and lints the to-be-signed part of a leaf.
 *
 * @throws SignerError LINT_FAILED (`wait`): we were about to sign something wrong
 */
export function prepare(input: PrepareInput): Prepared {
  const tbs = encodeLeafTbs(input);
  const leaf = decodeTbs(tbs);
  lint(leaf, input.issuer, LEAF_RULES);
  return new Prepared(BRAND, tbs, leaf, input.issuer);
}

/**
 * The same of a cross-certificate, by rules of its own.
 *
 * @throws SignerError LINT_FAILED (`wait`)
 */
export function prepareCross(input: CrossInput): Prepared {
  const tbs = encodeCrossTbs(input);
  const cross = decodeTbs(tbs);
  lint(cross, input.issuer, CROSS_RULES);
  return new Prepared(BRAND, tbs, cross, input.issuer);
}

function tokenError(reason: string): SignerError {
  return new SignerError({
    code: 'PREPARED_SPENT',
    disposition: 'retry',
    message: `the prepared certificate ${reason}`,
  });
}
