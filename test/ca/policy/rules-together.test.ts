// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verdictOf } from './request.ts';

const YES = {
  name: 'yes',
  when: 'true',
  allow: { commonName: 'true', usages: ['digital signature', 'client auth'] },
} as const;
const NO = { name: 'no', when: 'false', allow: {} } as const;
const BROKEN = "request.extra['missing'][0] == 'x'";

describe('rules together', () => {
  test('one deny denies although a rule approves, and every rule reports its reason', () => {
    const verdict = verdictOf(
      {
        copy: ['commonName'],
        rules: [YES, NO],
        deny: [
          { name: 'never', when: 'false', message: 'unused' },
          { name: 'robots', when: "request.username == 'jane'", message: 'no robots here' },
        ],
      },
      {},
    );
    assert.deepEqual(verdict, {
      outcome: 'deny',
      evaluationError: false,
      reasons: [
        { rule: 'never', outcome: 'noOpinion', message: 'does not deny: when is false' },
        { rule: 'robots', outcome: 'deny', message: 'no robots here' },
        { rule: 'yes', outcome: 'approve', message: 'allows the whole request' },
        { rule: 'no', outcome: 'noOpinion', message: 'does not apply: when is false' },
      ],
    });
  });

  test('one rule that allows the whole request approves it', () => {
    const verdict = verdictOf({ copy: ['commonName'], rules: [NO, YES] }, {});
    assert.equal(verdict.outcome, 'approve');
  });

  test('two rules that allow one half of a request each do not approve it', () => {
    const name = { ...YES, name: 'name' };
    const host = { ...YES, name: 'host', allow: { dnsNames: 'true', usages: YES.allow.usages } };
    const verdict = verdictOf(
      { copy: ['commonName'], rules: [name, host] },
      { dnsNames: ['a.example.com'] },
    );
    assert.equal(verdict.outcome, 'noOpinion');
    assert.deepEqual(
      verdict.reasons.map(({ message }) => message),
      [
        'allow has no dnsNames expression, and the request contains "a.example.com"',
        'allow has no commonName expression, and the request contains "jane"',
      ],
    );
  });

  test('nothing is approved while a deny cannot be evaluated', () => {
    const verdict = verdictOf(
      { copy: ['commonName'], rules: [YES], deny: [{ name: 'd', when: BROKEN, message: 'm' }] },
      {},
    );
    assert.equal(verdict.outcome, 'noOpinion');
    assert.equal(verdict.evaluationError, true);
    assert.match(
      verdict.reasons[0]?.message ?? '',
      /^spec\.requests\.deny\[0\]\.when: line 1, column \d+: No such key: missing$/,
    );
  });

  test('a deny denies although another deny cannot be evaluated', () => {
    const verdict = verdictOf(
      {
        copy: ['commonName'],
        rules: [YES],
        deny: [
          { name: 'broken', when: BROKEN, message: 'm' },
          { name: 'sure', when: 'true', message: 'no' },
        ],
      },
      {},
    );
    assert.equal(verdict.outcome, 'deny');
    assert.equal(verdict.evaluationError, true);
  });

  test('a when that cannot be evaluated does not approve, and the verdict reports it', () => {
    const verdict = verdictOf({ copy: ['commonName'], rules: [{ ...YES, when: BROKEN }] }, {});
    assert.equal(verdict.outcome, 'noOpinion');
    assert.equal(verdict.evaluationError, true);
    assert.match(verdict.reasons[0]?.message ?? '', /^spec\.requests\.rules\[0\]\.when: line 1/);
  });

  test('an allow that fails to evaluate does not approve; other mismatches are reported', () => {
    const broken = { ...YES, allow: { commonName: BROKEN, usages: ['client auth'] as const } };
    const verdict = verdictOf({ copy: ['commonName'], rules: [broken] }, {});
    assert.equal(verdict.outcome, 'noOpinion');
    assert.equal(verdict.evaluationError, true);
    assert.match(
      verdict.reasons[0]?.message ?? '',
      /^spec\.requests\.rules\[0\]\.allow\.commonName: .*No such key: missing; allow\.usages does not allow "digital signature" \(allowed: client auth\): remove them from spec\.usages, or add them to the rule$/,
    );
  });

  test('a rule that cannot be evaluated does not keep another rule from approving', () => {
    const verdict = verdictOf(
      { copy: ['commonName'], rules: [{ ...YES, name: 'broken', when: BROKEN }, YES] },
      {},
    );
    assert.equal(verdict.outcome, 'approve');
    assert.equal(verdict.evaluationError, true);
  });

  test('a request with more names than its cost assumes is not evaluated or approved', () => {
    const dnsNames = Array.from({ length: 101 }, (_, index) => `h${index}.example.com`);
    const verdict = verdictOf(
      { copy: ['dnsNames'], rules: [{ ...YES, allow: { ...YES.allow, dnsNames: 'true' } }] },
      { dnsNames },
    );
    assert.equal(verdict.outcome, 'noOpinion');
    assert.equal(verdict.evaluationError, true);
    assert.match(verdict.reasons[0]?.message ?? '', /csr\.dnsNames.*101.*100/);
  });

  test('reasons quote five values and count the others', () => {
    const dnsNames = Array.from({ length: 9 }, (_, index) => `h${index}.example.com`);
    const verdict = verdictOf({ copy: ['commonName'], rules: [YES] }, { dnsNames });
    assert.match(verdict.reasons[0]?.message ?? '', /"h4\.example\.com" and 4 more$/);
  });
});
