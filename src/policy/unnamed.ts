// SPDX-License-Identifier: Apache-2.0
import { attempt, SignerError } from '../errors.ts';
import {
  OID_BASIC_CONSTRAINTS,
  OID_EXT_KEY_USAGE,
  OID_EXTENSION_REQUEST,
  OID_KEY_USAGE,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '../pki/der/oids.ts';
import { usageBits, type UsageBits } from '../pki/extensions/usages.ts';
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';

/** A request and the usages of its object. */
interface WithUsages {
  readonly request: CertificationRequest;
  /** `spec.usages`. */
  readonly usages: readonly string[];
}

const NONE: UsageBits = { keyUsage: [], extKeyUsage: [] };

/** Whether an extension says no more than the names and the usages of the request, which rules look at. */
const SAID_ELSEWHERE: Readonly<
  Record<string, (request: CertificationRequest, said: UsageBits) => boolean>
> = {
  [OID_SUBJECT_ALT_NAME]: () => true,
  // A digest of the key: a leaf gets one of our own.
  [OID_SUBJECT_KEY_IDENTIFIER]: () => true,
  [OID_BASIC_CONSTRAINTS]: ({ isCa }) => !isCa,
  [OID_KEY_USAGE]: ({ keyUsage }, said) =>
    [...(keyUsage ?? [])].every((bit) => said.keyUsage.includes(bit)),
  [OID_EXT_KEY_USAGE]: ({ extKeyUsage }, said) =>
    (extKeyUsage ?? []).every((purpose) => said.extKeyUsage.includes(purpose)),
};

/** OIDs of the extensions of a request that say something which its names and usages do not say. */
export function unnamedExtensions({ request, usages }: WithUsages): readonly string[] {
  const bits = attempt(() => usageBits(usages));
  // A usage that is unknown is a mismatch of its own.
  const said = bits instanceof SignerError ? NONE : bits;
  return request.extensions
    .map(({ oid }) => oid)
    .filter((oid) => SAID_ELSEWHERE[oid]?.(request, said) !== true);
}

/** OIDs of the attributes of a request, but extensionRequest, whose extensions are looked at one by one. */
export function unnamedAttributes({ request }: WithUsages): readonly string[] {
  return request.attributes.filter((oid) => oid !== OID_EXTENSION_REQUEST);
}

/** What tools write into requests, by the names that their documentation uses. */
const KNOWN: Readonly<Record<string, string>> = {
  [OID_KEY_USAGE]: 'keyUsage, with bits that spec.usages does not have',
  [OID_EXT_KEY_USAGE]: 'extendedKeyUsage, with purposes that spec.usages does not have',
  [OID_BASIC_CONSTRAINTS]: 'basicConstraints with cA TRUE',
  '1.2.840.113549.1.9.2': 'unstructuredName',
  '1.2.840.113549.1.9.7': 'challengePassword',
  '1.2.840.113549.1.9.8': 'unstructuredAddress',
  '1.2.840.113549.1.9.15': 'smimeCapabilities',
  '1.3.6.1.5.5.7.1.24': 'TLS feature, must-staple',
  '1.3.6.1.4.1.311.2.1.14': 'Microsoft certificate extensions',
  '1.3.6.1.4.1.311.13.2.2': 'Microsoft enrollment CSP',
  '1.3.6.1.4.1.311.13.2.3': 'Microsoft OS version',
  '1.3.6.1.4.1.311.20.2': 'Microsoft certificate template',
  '1.3.6.1.4.1.311.21.7': 'Microsoft certificate template',
  '1.3.6.1.4.1.311.21.10': 'Microsoft application policies',
  '1.3.6.1.4.1.311.21.20': 'Microsoft client information',
  '1.3.6.1.4.1.311.25.2': 'Microsoft security identifier',
};

/** An OID for a message, with its name where tools write it. */
export function describeOid(oid: string): string {
  const name = KNOWN[oid];
  return name === undefined ? oid : `${oid} (${name})`;
}
