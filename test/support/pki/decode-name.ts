// SPDX-License-Identifier: Apache-2.0
import { DerReader } from '#pki/der/der-reader.ts';
import { readName, type DistinguishedName } from '#pki/names/distinguished-name.ts';

/** Reads DER that is one Name and nothing else. */
export function decodeName(der: Uint8Array): DistinguishedName {
  const reader = new DerReader(der, 'name');
  const name = readName(reader, 'name');
  reader.finish();
  return name;
}
