// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REQUEST_FIELDS } from '#base/vocabulary.ts';
import { omittedFields } from '#ca/policy/omitted-fields.ts';
import { CN, OU, made, type Wanted } from './request.ts';

const ALL = { copy: REQUEST_FIELDS, maxDurationSeconds: 3_600 };
const LOCALITY = '2.5.4.7';

function lacks(
  wanted: Wanted,
  granted: Parameters<typeof omittedFields>[2] = ALL,
): string | undefined {
  const { csr, request } = made(wanted);
  return omittedFields(csr.spec, request, granted);
}

test('a leaf that has all that was requested has no omitted field', () => {
  assert.equal(lacks({ dnsNames: ['a.example.com'], expirationSeconds: 3_600 }), undefined);
});

for (const [field, wanted] of [
  ['commonName', { subject: [[CN, 'jane']] }],
  ['organizationalUnits', { subject: [[OU, 'x']] }],
  ['dnsNames', { subject: [], dnsNames: ['a.example.com'] }],
  ['uris', { subject: [], uris: ['spiffe://a/b'] }],
  ['emails', { subject: [], emails: ['a@example.com'] }],
  ['ipAddresses', { subject: [], ipAddresses: [[10, 0, 0, 1]] }],
] as const) {
  test(`${field} that are not copied are named`, () => {
    const copy = REQUEST_FIELDS.filter((each) => each !== field);
    assert.match(lacks(wanted, { ...ALL, copy }) ?? '', new RegExp(`^no ${field} "[^"]+": .*copy`));
    assert.equal(lacks(wanted), undefined);
  });
}

test('parts of a name that no leaf gets are named', () => {
  assert.match(
    lacks({
      subject: [
        [CN, 'jane'],
        [LOCALITY, 'x'],
      ],
    }) ?? '',
    /attribute L \(2\.5\.4\.7\)/,
  );
});

test('a validity that is cut short is named, and one that was not requested is not', () => {
  assert.match(
    lacks({ expirationSeconds: 7_200 }) ?? '',
    /^a validity of 1h and not of 2h: spec\.profile\.maxDuration limits it$/,
  );
  assert.equal(lacks({}), undefined);
});

test('a message shows a requester’s names as text', () => {
  const copy = REQUEST_FIELDS.filter((each) => each !== 'commonName');
  const many = Array.from({ length: 40 }, (_, index) => `h${index}.example.com`);
  const text = lacks(
    { dnsNames: many },
    { ...ALL, copy: copy.filter((each) => each !== 'dnsNames') },
  );
  assert.match(text ?? '', /and 35 more/);
});
