// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requestedNames, unsupportedParts } from '#pki/x509/requested-names.ts';
import { tlv } from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { CN, O, OU, made, type Wanted } from './request.ts';

describe('the names of a request', () => {
  test('are those of the API’s fields, each in its order', () => {
    const { request } = made({
      subject: [
        [O, 'b'],
        [CN, 'jane'],
        [O, 'a'],
        [OU, 'u'],
        ['2.5.4.6', 'DE'],
      ],
      dnsNames: ['b.example.com', 'a.example.com'],
      uris: ['spiffe://td/x'],
      emails: ['Jane@example.com'],
      ipAddresses: [[10, 0, 0, 1]],
    });
    assert.deepEqual(requestedNames(request), {
      commonName: 'jane',
      organizations: ['b', 'a'],
      organizationalUnits: ['u'],
      dnsNames: ['b.example.com', 'a.example.com'],
      uris: ['spiffe://td/x'],
      emails: ['Jane@example.com'],
      ipAddresses: ['10.0.0.1'],
    });
  });

  test('are empty where the request has none', () => {
    const { request } = made({ subject: [] });
    assert.deepEqual(Object.values(requestedNames(request)), ['', [], [], [], [], [], []]);
    assert.deepEqual(unsupportedParts(request), []);
  });

  test('parts that no field covers are listed, each kind once', () => {
    const { request } = made({
      subject: [
        ['0.9.2342.19200300.100.1.25', 'a'],
        ['0.9.2342.19200300.100.1.25', 'b'],
        [CN, 'j'],
      ],
      otherNames: [tlv(0x88, [0x2a, 0x03]), tlv(0x88, [0x2a, 0x04])],
    });
    assert.deepEqual(unsupportedParts(request), [
      'subject attribute DC (0.9.2342.19200300.100.1.25)',
      '2 subject alternative names of other kinds',
    ]);
  });

  const ODD: readonly (readonly [string, Wanted, RegExp])[] = [
    ['a trailing blank', { subject: [[CN, 'jane ']] }, /"jane "/],
    ['a no-break space before', { subject: [[O, '\u00a0dev']] }, /dev/],
    ['a zero-width character', { subject: [[OU, 'a\u200bb']] }, /format characters/],
    ['a variation selector', { subject: [[CN, 'jan\ufe0fe']] }, /invisible or format characters/],
    ['two spaces', { subject: [[CN, 'jane  doe']] }, /single spaces/],
    ['a mark before the first letter', { subject: [[CN, '\u0301jane']] }, /visible character/],
    ['a letter and its accent', { subject: [[CN, 'jose\u0301']] }, /write "josé"/],
    ['the sign of Kelvin', { subject: [[O, '\u212aube']] }, /write "Kube"/],
    ['a filler', { subject: [[CN, '\u3164jane']] }, /invisible or format characters/],
    ['capitals in a DNS name', { dnsNames: ['A.example'] }, /write "a\.example"/],
    [
      'capitals in a URI’s host',
      { uris: ['https://A.example/x'] },
      /write "https:\/\/a\.example\/x"/,
    ],
    ['capitals in a mail domain', { emails: ['j@A.example'] }, /write "j@a\.example"/],
    ['a percent-encoded segment of a SPIFFE ID', { uris: ['spiffe://td/a%2fb'] }, /a%2fb/],
  ];
  for (const [law, wanted, message] of ODD) {
    test(`a requested name must be canonical: ${law} is refused`, () => {
      refuses(() => requestedNames(made(wanted).request), 'NAME_INVALID', message);
    });
  }
});
