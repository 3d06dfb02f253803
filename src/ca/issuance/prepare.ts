// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError } from '#base/errors.ts';
import {
  decodeCertificateWith,
  decodeTbs,
  type Certificate,
  type TbsCertificate,
} from '#pki/x509/certificate.ts';
import { requirePossiblePath } from '#pki/x509/path.ts';
import { encodeCrossTbs, type CrossInput } from './cross-certificate.ts';
import type { SigningCa } from './signing-ca.ts';
import { encodeLeafTbs, type LeafTbsInput } from './leaf.ts';
import { CA_RULES, CROSS_RULES, INTERMEDIATE_RULES, LEAF_RULES, lint } from './lint/index.ts';
import type { Validity } from './validity.ts';

/** The input of prepare(): the whole contents of a leaf. */
export type PrepareInput = LeafTbsInput;

/** The public half of a CA: itself, its issuers upwards without the root, and its trust anchors. */
export interface CaChain {
  /** The only certificate that counts as the issuer of its leaves. */
  readonly certificate: Certificate;
  readonly intermediates: readonly Certificate[];
  readonly anchors: readonly Certificate[];
}

/** Restricts construction to this module. `#tbs` rejects structurally equal objects. */
const BRAND = Symbol('prepared');

/**
 * The TBSCertificate of one linted certificate, as a token that one authority can consume once
 * (Boulder's issuanceToken).
 *
 * Only this module can construct it, because the constructor requires a symbol that is not
 * exported. No other CA can sign it, and no CA can sign it twice.
 */
export class PreparedCertificate {
  readonly validity: Validity;
  readonly #tbs: Uint8Array;
  readonly #leaf: TbsCertificate;
  readonly #fingerprint: string;
  #consumed = false;

  constructor(brand: symbol, tbs: Uint8Array, leaf: TbsCertificate, issuer: SigningCa) {
    if (brand !== BRAND) throw new TypeError('only prepare() makes a PreparedCertificate');
    this.#tbs = tbs;
    this.#leaf = leaf;
    this.#fingerprint = issuer.fingerprint;
    this.validity = { notBefore: leaf.notBefore, notAfter: leaf.notAfter };
  }

  /**
   * Checks, before the token is consumed, that the CA's chain permits the names, the purposes and
   * the validity. After signing, the same problem would cost one signature per retry.
   *
   * @throws SignerError PATH_INVALID (`authority`)
   */
  requirePath({ certificate, intermediates, anchors }: CaChain, now: number): void {
    requirePossiblePath({ leaf: this.#leaf, issuer: certificate, intermediates, anchors, now });
  }

  /**
   * Returns a copy of the bytes to sign, once, and only for the right CA. It is static, so that an
   * object that merely looks like a token cannot bring its own method.
   *
   * @param fingerprint - of the CA that will sign
   * @throws SignerError PREPARED_SPENT (`retry`). TypeError if prepare() did not make `prepared`.
   */
  static consume(prepared: PreparedCertificate, fingerprint: string): Uint8Array {
    if (prepared.#consumed) throw tokenError('was already signed; prepare a new one');
    if (fingerprint !== prepared.#fingerprint) {
      throw tokenError(`was made for the CA ${prepared.#fingerprint}`);
    }
    prepared.#consumed = true;
    return prepared.#tbs.slice();
  }

  /**
   * Decodes a certificate like decodeCertificate. It does not decode a TBSCertificate again that
   * equals the prepared one.
   *
   * @throws SignerError as decodeCertificate
   */
  decode(der: Uint8Array): Certificate {
    return decodeCertificateWith(der, (tbs) => (this.equals(tbs) ? this.#leaf : decodeTbs(tbs)));
  }

  /** Reports whether `tbs` are the prepared bytes, for correspond(). */
  equals(tbs: Uint8Array): boolean {
    return sameBytes(this.#tbs, tbs);
  }
}

/**
 * Encodes and lints the TBSCertificate of a leaf.
 *
 * @throws SignerError LINT_FAILED (`wait`) if the certificate would break a rule
 */
export function prepare(input: PrepareInput): PreparedCertificate {
  const tbs = encodeLeafTbs(input);
  const leaf = decodeTbs(tbs);
  lint(leaf, input.issuer, LEAF_RULES);
  return new PreparedCertificate(BRAND, tbs, leaf, input.issuer);
}

/**
 * Encodes and lints the TBSCertificate of a cross-certificate, by {@link CROSS_RULES}.
 *
 * @throws SignerError LINT_FAILED (`wait`)
 */
export function prepareCross(input: CrossInput): PreparedCertificate {
  const tbs = encodeCrossTbs(input);
  const cross = decodeTbs(tbs);
  lint(cross, input.issuer, CROSS_RULES);
  return new PreparedCertificate(BRAND, tbs, cross, input.issuer);
}

/**
 * Lints the TBSCertificate of a CA that a person has planned, by {@link CA_RULES}.
 *
 * @param tbs - DER, as `encodeCaTbs` made it
 * @param issuer - the CA that signs it. A root signs itself.
 * @throws SignerError LINT_FAILED (`wait`), or DER_MALFORMED
 */
export function prepareCa(tbs: Uint8Array, issuer: SigningCa): PreparedCertificate {
  const ca = decodeTbs(tbs);
  lint(ca, issuer, CA_RULES);
  return new PreparedCertificate(BRAND, tbs.slice(), ca, issuer);
}

/**
 * Lints the TBSCertificate of another cluster's CA, by {@link INTERMEDIATE_RULES}.
 *
 * @param tbs - DER, as `encodeIntermediateTbs` made it
 * @throws SignerError LINT_FAILED (`wait`), or DER_MALFORMED
 */
export function prepareIntermediate(tbs: Uint8Array, issuer: SigningCa): PreparedCertificate {
  const ca = decodeTbs(tbs);
  lint(ca, issuer, INTERMEDIATE_RULES);
  return new PreparedCertificate(BRAND, tbs.slice(), ca, issuer);
}

function tokenError(reason: string): SignerError {
  return new SignerError({
    code: 'PREPARED_SPENT',
    disposition: 'retry',
    message: `the prepared certificate ${reason}`,
  });
}
