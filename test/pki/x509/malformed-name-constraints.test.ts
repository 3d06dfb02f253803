// SPDX-License-Identifier: Apache-2.0
import { describe, test } from 'node:test';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { explicit, extension, implicit, seq, type Octets } from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

const nameConstraints = (...subtrees: readonly Uint8Array[]): Uint8Array =>
  certificateDer({ extensions: [extension('2.5.29.30', seq(...subtrees), true)] });
const constrained = (kind: number, base: Octets): Uint8Array =>
  nameConstraints(explicit(0, seq(implicit(kind, base))));

/** Go refuses such certificates when it parses them. */
const ROWS: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
  'with an address constraint with a gap in its mask': [
    constrained(7, [10, 0, 0, 0, 255, 0, 255, 0]),
    /mask with gaps/,
  ],
  'with an address constraint without a mask': [
    constrained(7, [10, 0, 0, 0]),
    /address range of 4 bytes/,
  ],
  'with a DNS constraint that is no domain': [
    constrained(2, Buffer.from('example..com')),
    /"example\.\.com" is not one for dns names/,
  ],
  'with a DNS constraint with a NUL': [
    constrained(2, Buffer.from('example\0com')),
    /not one for dns names/,
  ],
  'with a URI constraint that is an address': [
    constrained(6, Buffer.from('10.0.0.1')),
    /"10\.0\.0\.1" is not one for uri names/,
  ],
  'with a mail constraint without a local part': [
    constrained(1, Buffer.from('@example.com')),
    /not one for email names/,
  ],
  'with a mail constraint with a control character': [
    constrained(1, Buffer.from('\u0006@b.example')),
    /not one for email names/,
  ],
  'with a mail constraint that begins with a dot': [
    constrained(1, Buffer.from('.a@b.example')),
    /not one for email names/,
  ],
  'with a mail constraint with two dots': [
    constrained(1, Buffer.from('a..b@c.example')),
    /not one for email names/,
  ],
  'with a constraint with a minimum': [
    nameConstraints(explicit(0, seq(implicit(2, Buffer.from('a.b')), implicit(0, [1])))),
    /the minimum of a name constraint is more than 0/,
  ],
  'with empty name constraints': [nameConstraints(), /nameConstraints is empty/],
};

describe('a CA is refused', () => {
  for (const [name, [der, message]] of Object.entries(ROWS)) {
    test(name, () => refuses(() => decodeCertificate(der), 'DER_MALFORMED', message));
  }
});
