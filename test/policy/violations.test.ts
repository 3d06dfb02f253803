// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { encodePem } from '../../src/pki/der/pem.ts';
import type { Violation } from '../../src/policy/violations/violation.ts';
import { findViolations } from '../../src/policy/violations/index.ts';
import { bits, extension, oid, seq } from '../support/pki/der.ts';
import { privateKey } from '../support/pki/keys.ts';
import { BASIC_CONSTRAINTS, KEY_USAGE, PROFILE, REFUSAL_ROWS } from './violation-rows.ts';
import { CN, O, csrOf, derOf, type Wanted } from './request.ts';
import { decodeSpecRequest } from '../../src/policy/validate.ts';

/** As callers do: what does not decode is refused before any rule looks at it. */
function refusalsOf(wanted: Wanted, profile = PROFILE): readonly Violation[] {
  const csr = csrOf(encodePem('CERTIFICATE REQUEST', derOf(wanted)), wanted);
  const decoded = decodeSpecRequest(csr);
  if (decoded.kind === 'refused') return [decoded.refusal];
  return findViolations({ csr, request: decoded.request, profile, reservedPrefixes: ['oidc:'] });
}

describe('hard refusals', () => {
  for (const { rule, law, wanted, reason, message, profile } of REFUSAL_ROWS) {
    test(`${rule}: ${law}`, () => {
      const found = refusalsOf(wanted, profile).find((refusal) => refusal.reason === reason);
      assert.ok(found, `no ${reason} for this request`);
      assert.match(found.message, message);
    });
  }

  test('every rule has a row in this table', () => {
    const rules = readdirSync(new URL('../../src/policy/rules', import.meta.url));
    const covered = new Set(REFUSAL_ROWS.map(({ rule }) => `${rule}.ts`));
    assert.deepEqual(
      rules.filter((file) => !covered.has(file)),
      [],
    );
  });

  test('reasons are CamelCase and short enough for a condition', () => {
    for (const { wanted, profile } of REFUSAL_ROWS) {
      for (const { reason } of refusalsOf(wanted, profile))
        assert.match(reason, /^[A-Z][A-Za-z]{1,63}$/);
    }
  });

  test('an ordinary request has none', () => {
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
    assert.deepEqual(refusalsOf(ordinary), []);
  });

  test('a request may ask for what it does not get: CA:FALSE, unknown extensions that are not critical', () => {
    const extensions = [
      extension(BASIC_CONSTRAINTS, seq(), true),
      extension(KEY_USAGE, bits([0x80], 7), true),
      extension('1.2.3.4', oid('1.2.3')),
    ];
    assert.deepEqual(refusalsOf({ extensions }), []);
  });

  test('an attribute that no leaf takes is dropped, not refused', () => {
    assert.deepEqual(
      refusalsOf({
        subject: [
          ['2.5.4.6', 'DE'],
          [CN, 'jane'],
        ],
      }),
      [],
    );
  });

  test('all that stands against a request is told, the gravest first', () => {
    const found = refusalsOf({
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
