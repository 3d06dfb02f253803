// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodePem } from '#pki/der/pem.ts';
import type { Violation } from '#ca/policy/violations/violation.ts';
import * as extensions from '#ca/policy/violations/extensions.ts';
import { findViolations } from '#ca/policy/violations/index.ts';
import * as keys from '#ca/policy/violations/keys.ts';
import * as names from '#ca/policy/violations/names.ts';
import * as usages from '#ca/policy/violations/usages.ts';
import { bits, extension, oid, seq } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { BASIC_CONSTRAINTS, KEY_USAGE, PROFILE, VIOLATION_ROWS } from './violation-rows.ts';
import { CN, O, csrOf, derOf, type Wanted } from './request.ts';
import { decodeSpecRequest } from '#ca/policy/decode.ts';

/** As callers do: a request that does not decode is a violation by itself. */
function violationsOf(wanted: Wanted, profile = PROFILE): readonly Violation[] {
  const csr = csrOf(encodePem('CERTIFICATE REQUEST', derOf(wanted)), wanted);
  const decoded = decodeSpecRequest(csr);
  if (decoded.kind === 'invalid') return [decoded.violation];
  return findViolations({ csr, request: decoded.request, profile, reservedPrefixes: ['oidc:'] });
}

describe('violations', () => {
  for (const { rule, law, wanted, reason, message, profile } of VIOLATION_ROWS) {
    test(`${rule}: ${law}`, () => {
      const found = violationsOf(wanted, profile).find((violation) => violation.reason === reason);
      assert.ok(found, `no ${reason} for this request`);
      assert.match(found.message, message);
    });
  }

  test('every rule has a row in this table', () => {
    const rules = [extensions, keys, names, usages].flatMap((module) => Object.keys(module));
    assert.deepEqual(new Set(VIOLATION_ROWS.map(({ rule }) => rule)), new Set(rules));
  });

  test('reasons are CamelCase and short enough for a condition', () => {
    for (const { wanted, profile } of VIOLATION_ROWS) {
      for (const { reason } of violationsOf(wanted, profile))
        assert.match(reason, /^[A-Z][A-Za-z]{1,63}$/);
    }
  });

  test('usages without a purpose need a profile with both purposes of TLS, or with none', () => {
    const wanted: Wanted = { usages: ['digital signature'] };
    for (const usages of [
      ['digital signature'],
      ['digital signature', 'client auth', 'server auth'],
    ] as const)
      assert.deepEqual(violationsOf(wanted, { ...PROFILE, usages }), []);
  });

  test('an ordinary request has no violation', () => {
    const ordinary: Wanted = {
      subject: [
        [O, 'dev'],
        [O, 'ops'],
        [CN, 'jane'],
      ],
      dnsNames: ['a.example.com', '*.example.com'],
      uris: ['spiffe://td/ns/a/sa/b'],
      emails: ['jane@example.com'],
      ipAddresses: [[10, 0, 0, 1]],
    };
    assert.deepEqual(violationsOf(ordinary), []);
  });

  test('CA:FALSE, a permitted keyUsage and unknown non-critical extensions are allowed', () => {
    const extensions = [
      extension(BASIC_CONSTRAINTS, seq(), true),
      extension(KEY_USAGE, bits([0x80], 7), true),
      extension('1.2.3.4', oid('1.2.3')),
    ];
    assert.deepEqual(violationsOf({ extensions }), []);
  });

  test('a subject attribute that leaves never get is ignored, not refused', () => {
    assert.deepEqual(
      violationsOf({
        subject: [
          ['2.5.4.6', 'DE'],
          [CN, 'jane'],
        ],
      }),
      [],
    );
  });

  test('a usage that the key cannot have needs no profile that allows it', () => {
    const usages = ['digital signature', 'key encipherment', 'client auth'];
    assert.deepEqual(violationsOf({ usages }), []);
  });

  test('every violation is reported, the most severe first', () => {
    const found = violationsOf({
      subject: [
        [O, 'system:masters'],
        [CN, 'jane'],
      ],
      key: privateKey('RSA-1024'),
      usages: ['cert sign', 'server auth'],
    });
    assert.deepEqual(
      found.map(({ reason }) => reason),
      ['ReservedSubject', 'ForbiddenUsage', 'UnsupportedKeyType', 'WeakKey', 'UsageNotAllowed'],
    );
  });
});
