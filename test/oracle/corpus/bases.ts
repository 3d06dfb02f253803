// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { certificateDer, type CertificateDer } from '../../support/pki/certificate-der.ts';
import { ca, keyIds, link, purposes, san, usage, type Link } from '../../support/pki/chain.ts';
import { int, printable, rdn, seq, utf8 } from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { extensionRequest, requestDer, type RequestDer } from '../../support/pki/request-der.ts';

export const COMMON_NAME = '2.5.4.3';
export const ORGANIZATION = '2.5.4.10';

export const NAMES = san([2, 'web.example'], [6, 'spiffe://example/ns/a/sa/web']);

const SUBJECT = seq(rdn(ORGANIZATION, printable('team')), rdn(COMMON_NAME, utf8('web')));

/** A request with nothing wrong, but for the parts given. */
export function request(parts: RequestDer = {}): Uint8Array {
  return requestDer({ subject: SUBJECT, attributes: [extensionRequest(NAMES)], ...parts });
}

/** A key of its own, and the algorithm that goes with it. */
export function signedBy(key: KeyObject, algorithm: Uint8Array): RequestDer {
  return { key, spki: spkiOf(key), algorithm };
}

/** Who signs the certificates of the corpus; a root that everybody trusts. */
export const ISSUER: Link = link('issuer', {
  key: privateKey('P-256'),
  serial: int(1),
  extensions: [ca(), usage(), ...keyIds('issuer')],
});

/** digitalSignature. */
export const LEAF_USAGE = usage([0x80], 7);

/** The extensions of a leaf with nothing wrong, but for its names and key identifiers. */
export const LEAF_EXTENSIONS: readonly Uint8Array[] = [
  LEAF_USAGE,
  purposes('1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'),
];

export const IDENTIFIERS = keyIds('leaf', 'issuer');

/** A leaf below {@link ISSUER} with nothing wrong, but for the parts given. */
export function certificate(parts: CertificateDer = {}): Uint8Array {
  return certificateDer({
    subject: SUBJECT,
    spki: spkiOf(privateKey('P-256', 'leaf')),
    extensions: [...LEAF_EXTENSIONS, ...IDENTIFIERS, NAMES],
    ...parts,
    key: ISSUER.key,
  });
}
