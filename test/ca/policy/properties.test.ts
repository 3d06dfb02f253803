// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AllowSpec, RequestRule } from '#api/signer/cluster-signer.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { review } from '#ca/policy/review.ts';
import type { RequestField } from '#base/vocabulary.ts';
import { CN, O, OU, made, specOf, type Wanted } from './request.ts';

/** Three names a field: what is asked and what is allowed overlap often. */
const POOL = {
  commonName: ['jane', 'joe', 'root'],
  organizations: ['dev', 'ops', 'kubeadm:cluster-admins'],
  organizationalUnits: ['x', 'y', 'z'],
  dnsNames: ['a.example.com', 'b.example.com', '*.example.com'],
  uris: ['spiffe://td/a', 'spiffe://td/a/b', 'https://example.com/'],
  emails: ['j@example.com', 'k@example.com', 'j@b.example.com'],
} as const satisfies Partial<Record<RequestField, readonly string[]>>;

type Field = keyof typeof POOL;
type Names = Readonly<Record<Field, readonly string[]>>;

const FIELDS = Object.keys(POOL) as readonly Field[];
const USAGES = ['digital signature', 'client auth', 'server auth'] as const;

const usages = fc.subarray([...USAGES], { minLength: 1 });
const asked: fc.Arbitrary<Names> = fc.record({
  commonName: fc.subarray([...POOL.commonName], { maxLength: 1 }),
  organizations: fc.subarray([...POOL.organizations]),
  organizationalUnits: fc.subarray([...POOL.organizationalUnits], { maxLength: 1 }),
  dnsNames: fc.subarray([...POOL.dnsNames], { maxLength: 2 }),
  uris: fc.subarray([...POOL.uris], { maxLength: 1 }),
  emails: fc.subarray([...POOL.emails], { maxLength: 1 }),
});

interface Allowed {
  readonly when: boolean;
  readonly names: Partial<Names>;
  readonly usages: readonly (typeof USAGES)[number][];
}

const allowed: fc.Arbitrary<Allowed> = fc.record({
  when: fc.constantFrom(true, true, false),
  names: fc.oneof(
    fc.record(
      {
        commonName: fc.subarray([...POOL.commonName]),
        organizations: fc.subarray([...POOL.organizations]),
        organizationalUnits: fc.subarray([...POOL.organizationalUnits]),
        dnsNames: fc.subarray([...POOL.dnsNames]),
        uris: fc.subarray([...POOL.uris]),
        emails: fc.subarray([...POOL.emails]),
      },
      { requiredKeys: [] },
    ),
    // All but one name of one field.
    fc.constantFrom(...FIELDS).map((field) => ({ ...POOL, [field]: POOL[field].slice(1) })),
  ),
  usages: fc.subarray([...USAGES]),
});

function ruleOf({ when, names, usages: its }: Allowed, index: number): RequestRule {
  const allow = Object.fromEntries(
    Object.entries(names).map(([field, values]) => [field, `self in ${JSON.stringify(values)}`]),
  ) as AllowSpec;
  return { name: `r${index}`, when: String(when), allow: { ...allow, usages: its } };
}

function wantedOf(names: Names, its: readonly string[]): Wanted {
  const attributes = (type: string, values: readonly string[]): readonly [string, string][] =>
    values.map((value) => [type, value]);
  return {
    subject: [
      ...attributes(O, names.organizations),
      ...attributes(OU, names.organizationalUnits),
      ...attributes(CN, names.commonName),
    ],
    dnsNames: names.dnsNames,
    uris: names.uris,
    emails: names.emails,
    usages: its,
  };
}

const PURPOSES = ['client auth', 'server auth'];
const isPurpose = (usage: string): boolean => PURPOSES.includes(usage);

/** The law itself, said once more without CEL. */
function allows(rule: Allowed, names: Names, its: readonly string[]): boolean {
  const known: readonly string[] = rule.usages;
  return (
    rule.when &&
    its.every((usage) => known.includes(usage)) &&
    // A leaf without a purpose is valid for each (RFC 5280 §4.2.1.12).
    (its.some(isPurpose) ||
      !known.some(isPurpose) ||
      PURPOSES.every((each) => known.includes(each))) &&
    FIELDS.every((field) =>
      names[field].every((name) => rule.names[field]?.includes(name) === true),
    )
  );
}

test('a request is approved exactly if one rule allows all its names and usages', () => {
  let approved = 0;
  fc.assert(
    fc.property(fc.array(allowed, { maxLength: 3 }), asked, usages, (rules, names, its) => {
      const { csr, request } = made(wantedOf(names, its));
      const policy = compilePolicy(specOf({ copy: ['commonName'], rules: rules.map(ruleOf) }));
      const verdict = review(policy, csr, request);
      const expected = rules.some((rule) => allows(rule, names, its));
      if (expected) approved += 1;
      assert.equal(verdict.outcome, expected ? 'approve' : 'noOpinion');
      assert.equal(verdict.reasons.length, rules.length);
    }),
    { numRuns: 500, seed: 20261121 },
  );
  assert.ok(approved > 50, `only ${approved} requests were approved: the property says little`);
});
