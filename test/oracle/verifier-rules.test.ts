// SPDX-License-Identifier: Apache-2.0
/** The rules of what verifiers accept, held to the verifiers that this machine has. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { VERIFIER_RULES, type VerifierName } from '#pki/x509/verifier-rule-table.ts';
import { judgeTrust } from '#pki/x509/verifier-rules.ts';
import { keysOf } from '#base/object-keys.ts';
import { ca, keyIds, link } from '../support/pki/chain.ts';
import { openOracle } from './oracle.ts';
import { javaVerifier, pythonVerifier } from './verifiers/more-verifiers.ts';
import { RULE_CASES } from './verifiers/rule-cases.ts';
import {
  gnutlsVerifier,
  goVerifier,
  nodeVerifier,
  opensslVerifier,
  type Verifier,
} from './verifiers/verifiers.ts';

const oracle = await openOracle();
after(() => oracle[Symbol.asyncDispose]());

const FOUND: Readonly<Record<VerifierName, Verifier | undefined>> = {
  OpenSSL: opensslVerifier([]),
  'OpenSSL strict': opensslVerifier(),
  Node: nodeVerifier(),
  'Python before 3.13': pythonVerifier('before 3.13'),
  'Python 3.13': pythonVerifier('from 3.13'),
  Go: goVerifier(oracle),
  GnuTLS: gnutlsVerifier(),
  Java: javaVerifier(),
};

test('each rule of what verifiers accept has a chain that violates it', () => {
  const violated = new Set(RULE_CASES.map(({ rule }) => rule));
  assert.deepEqual(
    VERIFIER_RULES.map(({ id }) => id).filter((id) => !violated.has(id)),
    [],
  );
});

const NOW = Date.UTC(2026, 5, 1);
const [fine] = RULE_CASES;

test('an intermediate is an anchor for all verifiers if its root is one, too', () => {
  assert.ok(fine !== undefined);
  const anchors = [...fine.anchors, ...fine.chain];
  assert.deepEqual(judgeTrust({ chain: fine.chain, anchors, now: NOW }), []);
  assert.deepEqual(judgeTrust({ chain: [], anchors, now: NOW }), []);
});

test('an anchor to which the chain does not lead is not judged', () => {
  const extensions = [ca(), ...keyIds('stranger')];
  const { certificate: stranger } = link('stranger', { extensions });
  assert.ok(fine !== undefined);
  const anchors = [...fine.anchors, stranger];
  assert.deepEqual(judgeTrust({ chain: fine.chain, anchors, now: NOW }), []);
  const alone = judgeTrust({ chain: [], anchors, now: NOW });
  assert.deepEqual(
    alone.map(({ rule, certificate }) => [rule, certificate]),
    [['ca-key-usage', stranger]],
  );
});

for (const each of RULE_CASES) {
  test(`the verdict on "${each.name}" names its rule alone`, () => {
    const findings = judgeTrust({ ...each, now: NOW });
    assert.deepEqual([...new Set(findings.map(({ rule }) => rule))], [each.rule ?? []].flat());
  });
  const rejecting = VERIFIER_RULES.find(({ id }) => id === each.rule)?.rejectedBy ?? [];
  for (const name of keysOf(FOUND)) {
    const verb = rejecting.includes(name) ? 'rejects' : 'accepts';
    test(`${name} ${verb}: ${each.name}`, async (t) => {
      const verify = FOUND[name];
      if (verify === undefined) t.skip(`${name} is absent on this machine`);
      else assert.equal(await verify(each), verb === 'accepts');
    });
  }
}
