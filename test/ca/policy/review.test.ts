// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CN, O, OU, verdictOf } from './request.ts';
import { REVIEW_ROWS } from './review-rows.ts';

describe('the verdict', () => {
  for (const { law, requests, wanted, outcome, message } of REVIEW_ROWS) {
    test(law, () => {
      const verdict = verdictOf(requests, wanted);
      assert.equal(verdict.outcome, outcome);
      assert.match(verdict.reasons.at(-1)?.message ?? '', message);
      assert.equal(verdict.evaluationError, false);
    });
  }

  test('without rules there is no opinion and no reason', () => {
    const verdict = verdictOf({ copy: ['commonName'] }, {});
    assert.deepEqual(verdict, { outcome: 'noOpinion', reasons: [], evaluationError: false });
  });

  test('expressions see the request in csr and the requester in request', () => {
    const rule = {
      name: 'everything',
      when: `csr.subject.commonName == 'jane' && csr.subject.organizations == ['dev', 'ops']
        && csr.subject.organizationalUnits == ['unit'] && csr.dnsNames == ['a.example.com']
        && csr.ipAddresses == ['2001:db8::1'] && csr.uris == ['spiffe://td/x']
        && csr.emails == ['j@example.com'] && csr.key.type == 'ECDSA' && csr.key.size == 256
        && csr.keyType == 'ECDSAP256' && csr.usages == ['client auth'] && request.name == 'jane-1'
        && request.username == 'jane' && request.uid == '42' && request.groups == ['dev']
        && request.extra['example.com/team'] == ['red'] && request.expirationSeconds == 600`,
      allow: {
        commonName: 'true',
        organizations: 'true',
        organizationalUnits: 'true',
        dnsNames: 'true',
        ipAddresses: 'true',
        uris: 'true',
        emails: 'true',
        usages: ['client auth'],
      },
    } as const;
    const verdict = verdictOf(
      { copy: ['commonName'], rules: [rule] },
      {
        subject: [
          [O, 'dev'],
          [O, 'ops'],
          [OU, 'unit'],
          [CN, 'jane'],
        ],
        dnsNames: ['a.example.com'],
        ipAddresses: [[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
        uris: ['spiffe://td/x'],
        emails: ['j@example.com'],
        usages: ['client auth'],
        groups: ['dev'],
        extra: { 'example.com/team': ['red'] },
        expirationSeconds: 600,
      },
    );
    assert.equal(verdict.reasons[0]?.message, 'allows the whole request');
    assert.equal(verdict.outcome, 'approve');
  });
});
