// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError } from '#base/errors.ts';
import { decodeTbsList, type TbsCertificateList } from '#pki/x509/certificate-list.ts';
import type { WantedList } from './wanted-list.ts';

/** Restricts construction of a PreparedList to this module. */
const BRAND = Symbol('prepared-list');

/** The TBSCertList of one CRL with the wanted content, for the key of one CA. */
export class PreparedList {
  readonly #tbs: Uint8Array;
  readonly #fingerprint: string;

  constructor(brand: symbol, tbs: Uint8Array, fingerprint: string) {
    if (brand !== BRAND) throw new TypeError('only prepareList() makes a PreparedList');
    this.#tbs = tbs;
    this.#fingerprint = fingerprint;
  }

  /**
   * Returns a copy of the bytes to sign, for the right CA only.
   *
   * @param fingerprint - of the CA that will sign
   * @throws SignerError CORRESPONDENCE (`authority`)
   */
  static bytesFor(list: PreparedList, fingerprint: string): Uint8Array {
    if (list.#fingerprint !== fingerprint) throw differs(`it is for the CA ${list.#fingerprint}`);
    return list.#tbs.slice();
  }
}

/**
 * Reads an encoded TBSCertList strictly and compares it with the wanted list: each field, and every
 * entry in order.
 *
 * @param tbs - DER, as `encodeTbsList` made it
 * @throws SignerError CORRESPONDENCE (`authority`), or DER_MALFORMED or DER_LIMIT if it is
 *   unreadable
 */
export function prepareList(tbs: Uint8Array, wanted: WantedList): PreparedList {
  const wrong = differenceOf(decodeTbsList(tbs), wanted);
  if (wrong !== undefined) throw differs(wrong);
  return new PreparedList(BRAND, tbs.slice(), wanted.issuer.fingerprint);
}

function differenceOf(list: TbsCertificateList, wanted: WantedList): string | undefined {
  const { issuer } = wanted;
  if (!sameBytes(list.issuer.raw, issuer.subject)) return 'its issuer is not the CA';
  if (!sameBytes(list.authorityKeyIdentifier, issuer.keyIdentifier))
    return 'its key is not the CA’s';
  if (!sameBytes(list.signatureAlgorithm, issuer.signatureAlgorithm))
    return 'its algorithm differs';
  if (list.number !== wanted.number) return 'its number differs';
  if (list.thisUpdate !== wanted.thisUpdate || list.nextUpdate !== wanted.nextUpdate) {
    return 'its times differ';
  }
  if (list.revoked.length !== wanted.revoked.length) return 'the number of its entries differs';
  const isSame = list.revoked.every(({ serial, revokedAt, reason }, index) => {
    const other = wanted.revoked[index];
    return (
      sameBytes(serial, other?.serial) && revokedAt === other?.revokedAt && reason === other.reason
    );
  });
  return isSame ? undefined : 'an entry differs';
}

function differs(what: string): SignerError {
  const message = `the CRL that was encoded is not the one that was wanted: ${what}; it was not signed`;
  return new SignerError({ code: 'CORRESPONDENCE', disposition: 'authority', message });
}
