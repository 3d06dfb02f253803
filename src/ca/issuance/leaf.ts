// SPDX-License-Identifier: Apache-2.0
import { encodeTbs } from '#pki/x509/encode-certificate.ts';
import type { Random } from '#base/ports.ts';
import { type SigningCa, newSerial } from './signing-ca.ts';
import type { Validity } from './validity.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import { type LeafExtensionsInput, leafExtensions } from './leaf-extensions.ts';

/** The contents of a leaf, and the CA that will sign it. */
export interface LeafTbsInput extends Omit<LeafExtensionsInput, 'issuerKeyIdentifier'> {
  readonly issuer: SigningCa;
  readonly validity: Validity;
  readonly random: Random;
}

/** Encodes the TBSCertificate (DER) of a leaf. prepare() lints it before it can be signed. */
export function encodeLeafTbs(input: LeafTbsInput): Uint8Array {
  const { issuer, validity } = input;
  return encodeTbs({
    serial: newSerial(input.random),
    signatureAlgorithm: issuer.signatureAlgorithm,
    issuer: issuer.subject,
    notBefore: validity.notBefore,
    notAfter: validity.notAfter,
    subject: encodeLeafName(input.subject),
    spki: input.publicKey.spki,
    extensions: leafExtensions({ ...input, issuerKeyIdentifier: issuer.keyIdentifier }),
  });
}

/** Encodes the leaf's subject Name in DER: organizations, organizational units, common name. */
function encodeLeafName(subject: LeafSubject): Uint8Array {
  return encodeName({
    organizations: subject.organizations,
    organizationalUnits: subject.organizationalUnits,
    commonName: subject.commonName,
  });
}
