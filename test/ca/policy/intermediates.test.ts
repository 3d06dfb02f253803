// SPDX-License-Identifier: Apache-2.0
/** Who gets the CA of which cluster, by the rules of a hub. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IntermediateRule } from '#api/signer/cluster-signer.ts';
import {
  compileIntermediates,
  judgeIntermediate,
  type IntermediateVerdict,
} from '#ca/policy/intermediates.ts';
import { validateIntermediate } from '#ca/policy/validate-intermediate.ts';
import { hubSigner, memberCsr, type MemberWanted } from '../../support/requests/intermediate.ts';
import { refuses } from '../../support/pki/refuses.ts';

function verdictOf(
  rules: readonly Partial<IntermediateRule>[] = [{}],
  wanted: MemberWanted = {},
): IntermediateVerdict {
  const csr = memberCsr(wanted);
  const policy = compileIntermediates(hubSigner(rules).spec);
  const found = validateIntermediate({ csr, keyTypes: policy.keyTypes, reservedPrefixes: [] });
  assert.ok(found.kind === 'valid', JSON.stringify(found));
  return judgeIntermediate(policy, csr, found.asked);
}

test('the rule gives a member its trust domain and its constraints', () => {
  const dnsConstraints = ["cluster + '.example.com'", "'shop.example.com'"];
  assert.deepEqual(verdictOf([{ dnsConstraints }]), {
    outcome: 'allow',
    rule: 'own-cluster',
    names: {
      trustDomain: 'prod.fleet.example.com',
      isUriConstrained: true,
      dnsConstraints: ['prod.example.com', 'shop.example.com'],
    },
  });
});

test('a member does not get the CA of another cluster', () => {
  const found = verdictOf([{}], { cluster: 'other' });
  assert.deepEqual(found, {
    outcome: 'deny',
    message: 'own-cluster: does not apply: when is false',
  });
});

test('another user does not get the CA of a member', () => {
  const username = 'system:serviceaccount:other:prod';
  assert.equal(verdictOf([{}], { username }).outcome, 'deny');
});

test('a rule without crl sign does not allow a CA that signs CRLs', () => {
  const rules = [{ usages: ['cert sign'] }] as const;
  const found = verdictOf(rules);
  assert.ok(found.outcome === 'deny');
  assert.match(found.message, /"crl sign"/);
  assert.equal(verdictOf(rules, { usages: ['cert sign'], bits: ['keyCertSign'] }).outcome, 'allow');
});

test('the first rule that applies decides', () => {
  const first = { name: 'first', trustDomain: "cluster + '.first'" };
  const found = verdictOf([{ name: 'never', when: 'false' }, first, {}]);
  assert.ok(found.outcome === 'allow');
  assert.equal(found.rule, 'first');
});

test('a rule that cannot be evaluated decides nothing, nor does a rule after it', () => {
  const broken = { name: 'broken', when: "request.extra['missing'][0] == 'x'" };
  const found = verdictOf([broken, {}]);
  assert.ok(found.outcome === 'unknown');
  assert.equal(found.error.disposition, 'wait');
});

const foreign: Readonly<Record<string, string>> = {
  'of another cluster': "'other.fleet.example.com'",
  'of all clusters': "'fleet.example.com'",
  'that begins with the name without a dot': "cluster + 'x.example.com'",
  'of an address': "'10.0.0.1'",
  'that is empty': "''",
  'with capitals': "cluster + '.Fleet.example.com'",
  'with a path': "cluster + '.example.com/ns'",
  'with an underscore': "cluster + '.fleet_example'",
  'with a trailing dot': "cluster + '.'",
};

for (const [name, trustDomain] of Object.entries(foreign)) {
  test(`a trust domain ${name} allows nothing`, () => {
    const found = verdictOf([{ trustDomain }]);
    assert.ok(found.outcome === 'unknown', JSON.stringify(found));
    assert.match(found.error.message, /rules\[0\]\.trustDomain: returned/);
  });
}

test('an address is no trust domain, even of a cluster whose name is its first label', () => {
  const when = 'true';
  const found = verdictOf([{ when, trustDomain: "cluster + '.0.0.1'" }], { cluster: '10' });
  assert.equal(found.outcome, 'unknown');
});

for (const domain of ["''", "'.example.com'", "'*.example.com'", "'10.0.0.1'", "'Example.com'"]) {
  test(`the DNS constraint ${domain} allows nothing`, () => {
    const found = verdictOf([{ dnsConstraints: [domain] }]);
    assert.ok(found.outcome === 'unknown', JSON.stringify(found));
    assert.match(found.error.message, /dnsConstraints\[0\]: returned/);
  });
}

test('an expression about the content of the request does not compile', () => {
  const { spec } = hubSigner([{ when: "csr.subject.commonName == 'x'" }]);
  refuses(() => compileIntermediates(spec), 'CEL_INVALID', /rules\[0\]\.when/, 'wait');
});

test('a signer without intermediates allows nothing', () => {
  const { intermediates: _, ...spec } = hubSigner().spec;
  const csr = memberCsr();
  const policy = compileIntermediates(spec);
  const found = validateIntermediate({ csr, keyTypes: policy.keyTypes, reservedPrefixes: [] });
  assert.ok(found.kind === 'valid');
  assert.equal(judgeIntermediate(policy, csr, found.asked).outcome, 'deny');
});
