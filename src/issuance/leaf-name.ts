// SPDX-License-Identifier: Apache-2.0
import { encodeName } from '../pki/names/distinguished-name.ts';
import type { LeafSubject } from './leaf-subject.ts';

/** The leaf's subject Name in DER: organizations, organizational units, common name. */
export function encodeLeafName(subject: LeafSubject): Uint8Array {
  return encodeName({
    organizations: subject.organizations,
    organizationalUnits: subject.organizationalUnits,
    commonName: subject.commonName,
  });
}
