// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderAdmission } from '../../src/manifests/render.ts';

const NAMES = /in \['example.com\/workload', 'example.com\/people'\]/;
/** What each file of policies goes by: signer names, or whose object or whose write it is. */
const GOES_BY: Readonly<Record<string, readonly RegExp[]>> = {
  'pod-certificate-requests.yaml': [NAMES],
  'who-may-request.yaml': [NAMES],
  'certificate-requests.yaml': [
    /issuerRef\.\?group\.orValue\(''\) in \['countersign\.dev', 'acme\.countersign\.dev'\]/,
  ],
  'acme.yaml': [/countersign-acme'/, /countersign-acme-solver'/, /namespace\('countersign-keys'\)/],
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

test('an expression has one check() at most: two would cost more than one may', () => {
  for (const text of renderAdmission(DEMO).values()) {
    for (const [, expression = ''] of text.matchAll(
      / expression: ([^]*?)(?= expression:|messageExpression)/g,
    )) {
      assert.ok(expression.split('.check(').length <= 2);
    }
  }
});
