// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderAdmission } from '#install/render.ts';

const NAMES = /in \['example.com\/workload', 'example.com\/people'\]/;
/** What each file of policies goes by: signer names, or whose object or whose write it is. */
const GOES_BY: Readonly<Record<string, readonly RegExp[]>> = {
  'pod-certificate-requests.yaml': [NAMES],
  'who-may-request.yaml': [NAMES],
  'certificate-requests.yaml': [
    /issuerRef\.\?group\.orValue\(''\) in \['countersign\.dev', 'acme\.countersign\.dev'\]/,
  ],
  'acme.yaml': [/countersign-acme'/, /countersign-acme-solver'/, /namespace\('countersign-keys'\)/],
  'external.yaml': [
    /resources:\n +- externalclustersigners\n/,
    /== 'system:serviceaccount:countersign-system:countersign-external-signer'/,
  ],
  'refreshed.yaml': [
    /== 'system:serviceaccount:countersign-system:countersign-pod-refresher'/,
    /namespaceObject\.metadata\.\?labels\['countersign\.dev\/refresh'\]/,
  ],
  'revocations.yaml': [
    /resources:\n +- revocations\n/,
    /== 'system:serviceaccount:countersign-system:countersign-authority'/,
  ],
  'leases.yaml': [/request\.namespace == 'countersign-system'/],
  'injection.yaml': [/\{'name': 'workload', 'signerName': 'example\.com\/workload', /],
  'components.yaml': ['attester', 'authority', 'certificate-request', 'acme'].map(
    (component) =>
      new RegExp(`== 'system:serviceaccount:countersign-system:countersign-${component}'`),
  ),
  // Every ClusterSigner, whatever its name.
  'cluster-signers.yaml': [/resources:\n +- clustersigners\n/],
};

test('admission policies name what they guard, and fail closed', () => {
  const files = renderAdmission(DEMO);
  assert.deepEqual([...files.keys()].sort(), Object.keys(GOES_BY).sort());
  for (const [file, text] of files) {
    const policies = text.match(/^kind: (?:Validating|Mutating)AdmissionPolicy$/gm)?.length;
    assert.equal(text.match(/failurePolicy: Fail/g)?.length, policies, file);
    for (const pattern of GOES_BY[file] ?? []) assert.match(text, pattern, file);
  }
  assert.doesNotMatch(files.get('cluster-signers.yaml') ?? '', /our-signers/);
});

/**
 * What a check() costs, and an expression may cost (k8s.io/apiserver/pkg/apis/cel/config.go,
 * pkg/cel/library/cost.go).
 */
const CHECK_COST = 350_000;
const PER_CALL_LIMIT = 1_000_000;

/** The expressions of every policy. */
function expressions(): readonly string[] {
  return [...renderAdmission(DEMO).values()].flatMap((text) =>
    [...text.matchAll(/ expression: ([^]*?)(?= expression:|messageExpression)/g)].map(
      ([, expression = '']) => expression,
    ),
  );
}

test('the checks of an expression cost less than an expression may', () => {
  for (const expression of expressions()) {
    const checks = expression.split('.check(').length - 1;
    assert.ok(checks * CHECK_COST < PER_CALL_LIMIT, expression);
  }
});

test('each check of a signer name accepts its domain’s wildcard, in one rule per verb', () => {
  const onSigners = expressions().filter((each) =>
    /group\('certificates\.k8s\.io'\)\.resource\('signers'\)/.test(each),
  );
  assert.ok(onSigners.length >= 10);
  for (const expression of onSigners) {
    const [exact = [], every = [], ...more] = expression.matchAll(
      /\.name\(([^]*?)\)\s*\.check\('([a-z-]+)'\)/g,
    );
    const [, name = '', verb] = exact;
    assert.deepEqual(every.slice(1), [`${name}.split('/')[0] + '/*'`, verb], expression);
    assert.deepEqual(more, []);
    const reachesTenants = ['approve', 'sign', 'attest'].includes(verb ?? '');
    assert.equal(expression.includes("'signers.countersign.dev', "), !reachesTenants, expression);
  }
});
