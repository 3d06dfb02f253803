// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodePem } from '#pki/der/pem.ts';
import { extension, seq } from '../../support/pki/der.ts';
import { ODD_REQUESTS } from '../../support/pki/forms.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { CN, csrOf, derOf } from './request.ts';
import { decodeSpecRequest } from '#ca/policy/decode.ts';

const pemOf = (der: Uint8Array): string => encodePem('CERTIFICATE REQUEST', der);

/** The last byte of the signature, changed. */
function tampered(der: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(der);
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1;
  return copy;
}

interface Row {
  readonly law: string;
  readonly pem: string;
  readonly reason: string;
  readonly message: RegExp;
}

const twice = extension('2.5.29.19', seq(), true);

const ROWS: readonly Row[] = [
  {
    law: 'text that is not PEM is refused',
    pem: 'hello',
    reason: 'MalformedRequest',
    message: /^spec\.request: .*PEM/,
  },
  {
    law: 'a block of another kind is refused',
    pem: encodePem('CERTIFICATE', derOf({})),
    reason: 'MalformedRequest',
    message: /CERTIFICATE REQUEST/,
  },
  {
    law: 'bytes after the request are refused',
    pem: pemOf(Uint8Array.from([...derOf({}), 0])),
    reason: 'MalformedRequest',
    message: /^spec\.request: /,
  },
  {
    law: 'truncated DER is refused',
    pem: pemOf(derOf({}).slice(0, -10)),
    reason: 'MalformedRequest',
    message: /^spec\.request: /,
  },
  {
    law: 'two common names are refused',
    pem: pemOf(
      derOf({
        subject: [
          [CN, 'jane'],
          [CN, 'admin'],
        ],
      }),
    ),
    reason: 'MalformedRequest',
    message: /CN twice/,
  },
  {
    law: 'a common name with NUL is refused',
    pem: pemOf(derOf({ subject: [[CN, 'jane\u0000.evil']] })),
    reason: 'MalformedRequest',
    message: /control character/,
  },
  {
    law: 'a SAN with NUL is refused',
    pem: pemOf(derOf({ dnsNames: ['a.example.com\u0000.evil'] })),
    reason: 'MalformedName',
    message: /NUL/,
  },
  {
    law: 'an extension that occurs twice is refused',
    pem: pemOf(derOf({ extensions: [twice, twice] })),
    reason: 'MalformedRequest',
    message: /2\.5\.29\.19 occurs twice/,
  },
  {
    law: 'a signature by another key is refused',
    pem: pemOf(tampered(derOf({}))),
    reason: 'InvalidSignature',
    message: /signature/,
  },
  {
    law: 'an unsupported curve is refused',
    pem: pemOf(derOf({ key: privateKey('P-224') })),
    reason: 'UnsupportedKeyType',
    message: /P-256/,
  },
];

describe('spec.request', () => {
  for (const { law, pem, reason, message } of ROWS) {
    test(law, () => {
      const decoded = decodeSpecRequest(csrOf(pem));
      assert.equal(decoded.kind, 'invalid');
      assert.equal(decoded.violation.reason, reason);
      assert.match(decoded.violation.message, message);
    });
  }

  test('a well-formed request decodes', () => {
    const decoded = decodeSpecRequest(csrOf(pemOf(derOf({ subject: [[CN, 'jane']] }))));
    assert.equal(decoded.kind, 'decoded');
    assert.equal(decoded.request.subject.attributes[0]?.value, 'jane');
  });

  test('an error of another kind is thrown and becomes no violation', () => {
    const csr = csrOf('');
    const spec = { ...csr.spec, request: undefined as unknown as string };
    assert.throws(() => decodeSpecRequest({ ...csr, spec }), { name: 'TypeError' });
  });
});

describe('spec.request in a form that the API server and OpenSSL read is decoded', () => {
  const read = (pem: string): string => decodeSpecRequest(csrOf(pem)).kind;
  const plain = pemOf(derOf({}));

  test('with the text of openssl req -text before it', () => {
    const text = 'Certificate Request:\n    Data:\n        Version: 1 (0x0)\n';
    assert.equal(read(text + plain), 'decoded');
  });

  for (const [name, { odd }] of Object.entries(ODD_REQUESTS)) {
    test(name, () => assert.equal(read(pemOf(odd)), 'decoded'));
  }
});
