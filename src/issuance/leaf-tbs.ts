// SPDX-License-Identifier: Apache-2.0
import { encodeTbs } from '../pki/x509/encode-certificate.ts';
import type { Random } from '../ports.ts';
import { leafExtensions, type LeafExtensionsInput } from './extensions.ts';
import type { Issuer } from './issuer.ts';
import { encodeLeafName } from './leaf-name.ts';
import { newSerial } from './serial.ts';
import type { Validity } from './validity.ts';

export interface LeafInput extends Omit<LeafExtensionsInput, 'issuerKeyIdentifier'> {
  readonly issuer: Issuer;
  readonly validity: Validity;
  readonly random: Random;
}

/** The to-be-signed bytes of a leaf, written and not looked at: `prepare` does that. */
export function encodeLeafTbs(input: LeafInput): Uint8Array {
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
