// SPDX-License-Identifier: Apache-2.0
/** `--route-metadata`: which labels and annotations the routes of acme-solver may have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { admissionDifferences } from '#install/admission/compare.ts';
import { checkInstallation } from '#install/installation.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';

test('both policies on routes have exactly the administrator’s list', () => {
  const routeMetadata = ['team=edge', 'nginx.ingress.kubernetes.io/ssl-redirect=false'];
  for (const [listed, expression] of [
    [[], '[]'],
    [routeMetadata, "['team=edge', 'nginx.ingress.kubernetes.io/ssl-redirect=false']"],
  ] as const) {
    const printed = printedAdmission({ routeMetadata: listed });
    for (const name of ['countersign-acme-ingresses', 'countersign-acme-http-routes']) {
      const variables = printed.get(name)?.policy.spec['variables'];
      assert.deepEqual(variables, [{ name: 'listed', expression }]);
    }
  }
});

test('what CEL or YAML could read otherwise is no label or annotation of a route', () => {
  const refused = [
    'team',
    "a=b'",
    'a=b"',
    'a=\\',
    'a=b\n',
    'a b=c',
    '=a',
    'a/b/c=d',
    'a=[b]',
    'A/b=c',
  ];
  for (const entry of refused) {
    assert.throws(
      () => checkInstallation({ ...DEMO, routeMetadata: [entry] }),
      { code: 'USAGE', message: /is not a label or annotation of a route/ },
      entry,
    );
  }
  checkInstallation({
    ...DEMO,
    routeMetadata: ['a=', 'a.b/c_D.e=https://x.example:8443/y?'.slice(0, -1)],
  });
});

test('names listed by an administrator do not differ, nor do those that end a string', () => {
  const name = 'countersign-acme-ingresses';
  const routeMetadata = ['nginx.ingress.kubernetes.io/ssl-redirect=false', 'team=edge', 'a/b='];
  const { policy, binding } = printedAdmission({ routeMetadata }).get(name) ?? assert.fail(name);
  const context = {
    namespace: DEMO.namespace,
    secretNamespace: 'countersign-keys',
    signerNames: DEMO.signers,
  };
  assert.deepEqual(admissionDifferences(name, { policy, binding }, context), []);
  for (const expression of ["['a=b'] + ['b=c']", "['a=b\\'', 'c=d']", `['a="b']`, "'a=b'"]) {
    const spec = { ...policy.spec, variables: [{ name: 'listed', expression }] };
    assert.deepEqual(
      admissionDifferences(name, { policy: { spec }, binding }, context),
      [`ValidatingAdmissionPolicy ${name}: spec.variables[0].expression differs`],
      expression,
    );
  }
});
