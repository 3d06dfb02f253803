// SPDX-License-Identifier: Apache-2.0
import { DerReader } from '../der/der-reader.ts';
import { TAG_OID, TAG_SEQUENCE } from '../der/der-tags.ts';
import { oidOf } from '../der/der-values.ts';

/**
 * The AlgorithmIdentifier at the reader's position, in DER: an OBJECT IDENTIFIER and at most one
 * parameter (RFC 5280 §4.1.1.2). Which algorithms are known is not its matter.
 *
 * @throws SignerError DER_MALFORMED or DER_LIMIT
 */
export function readAlgorithmIdentifier(reader: DerReader, what: string): Uint8Array {
  const der = reader.raw(what, TAG_SEQUENCE);
  const fields = new DerReader(der, what).sequence(what);
  oidOf(fields.read(TAG_OID, what), what);
  if (!fields.isDone()) fields.raw(`the parameters of ${what}`);
  fields.finish();
  return der;
}
