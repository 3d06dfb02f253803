// SPDX-License-Identifier: Apache-2.0
/** What an installation prints that serves every signer name of a domain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { admissionDifferences } from '#install/admission/compare.ts';
import { admissionOf } from '#install/admission/policy-list.ts';
import type { Installation } from '#install/installation.ts';
import { renderAdmission } from '#install/render.ts';
import { components, linesOf } from './roles.ts';

const OF_DOMAIN: Installation = {
  ...DEMO,
  signerDomains: ['example.com'],
  acme: { signers: ['example.com/public'], secrets: [] },
};
const PODS = 'countersign-pod-certificate-requests';

test('the roles name the domain, besides the signers, only if the installation says so', () => {
  const naming = (installation: Installation): readonly string[] =>
    components.filter((each) => linesOf(each, installation).join().includes('example.com/*'));
  assert.deepEqual(naming(DEMO), []);
  assert.deepEqual(naming(OF_DOMAIN).toSorted(), ['approver', 'attester', 'pcr-issuer', 'signer']);
  for (const each of naming(OF_DOMAIN)) {
    const line = linesOf(each, OF_DOMAIN).find((text) => text.includes('example.com/*')) ?? '';
    assert.match(line, /^(?:approve|sign|attest) certificates\.k8s\.io\/signers \[/);
    for (const name of DEMO.signers) assert.ok(line.includes(name), line);
  }
});

test('the forgers of a domain’s requests are known for every signer name', () => {
  for (const file of ['pod-certificate-requests.yaml', 'who-may-request.yaml']) {
    assert.match(
      renderAdmission(OF_DOMAIN).get(file) ?? '',
      /split\('\/'\)\[0\] in \['example\.com'\]/,
    );
    assert.match(renderAdmission(DEMO).get(file) ?? '', /split\('\/'\)\[0\] in \[\]/);
  }
});

test('the verb request guards the names of ACME signers, too', () => {
  const files = renderAdmission({ ...OF_DOMAIN, namespacedSigners: true });
  const conditions = (file: string): readonly string[] =>
    [...(files.get(file) ?? '').matchAll(/our-signers\n[^]*?\n {2}validations/g)].map(String);
  const asked = conditions('who-may-request.yaml');
  assert.equal(asked.length, 2);
  for (const condition of asked) {
    assert.match(condition, /'example\.com\/public'/);
    assert.match(condition, /startsWith\('acmesigners\.acme\.countersign\.dev\/'\)/);
  }
});

test('a policy that guards the domain guards each of its signers, and no other', () => {
  const [policy, binding] = admissionOf(OF_DOMAIN).get('pod-certificate-requests.yaml') ?? [];
  const found = (...signerNames: readonly string[]): readonly string[] =>
    admissionDifferences(
      PODS,
      { policy, binding },
      { namespace: 'countersign-system', secretNamespace: 'countersign-keys', signerNames },
    );
  assert.deepEqual(found('example.com/workload', 'example.com/later', 'example.com/*'), []);
  for (const name of ['a.example.com/x', 'example.com.evil/x', 'example.org/*'])
    assert.deepEqual(found(name), [
      `ValidatingAdmissionPolicy ${PODS} does not name ${name}, which is served`,
    ]);
});
