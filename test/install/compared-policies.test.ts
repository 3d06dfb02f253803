// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { admissionDifferences, isReliedOn } from '#install/admission/compare.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';

const CONTEXT = {
  namespace: DEMO.namespace,
  secretNamespace: 'countersign-keys',
  signerNames: DEMO.signers,
};

test('a policy that asks for Secrets of another namespace differs', () => {
  const name = 'countersign-acme-account-keys';
  const { policy, binding } = printedAdmission().get(name) ?? assert.fail(name);
  const text = JSON.stringify(policy).replaceAll(
    "namespace('countersign-keys')",
    "namespace('elsewhere')",
  );
  const live = { policy: JSON.parse(text) as typeof policy, binding };
  assert.notDeepEqual(admissionDifferences(name, live, CONTEXT), []);
});

test('a component that serves nothing needs all policies but PodCertificateRequests’', () => {
  const serving = (signerNames: readonly string[]): readonly string[] =>
    [...printedAdmission().keys()].filter((each) => isReliedOn(each, { ...CONTEXT, signerNames }));
  assert.equal(serving(DEMO.signers).includes('countersign-pod-certificate-requests'), true);
  assert.equal(serving([]).includes('countersign-pod-certificate-requests'), false);
  assert.equal(serving([]).length, serving(DEMO.signers).length - 1);
});

test('every component that writes compares the policies that hold it', () => {
  const names = {
    ...DEMO,
    signerNames: DEMO.signers,
    namespacedSigners: true,
    crls: true,
    renewsCertificates: true,
    aggregatedApi: true,
    leases: { namespace: DEMO.namespace, secretNamespaces: ['countersign-keys'] },
  };
  const READS = ['get', 'list', 'watch'];
  for (const [component, { permissions }] of COMPONENTS) {
    const rules = permissions(names);
    if (rules.every(({ verbs }) => verbs.every((verb) => READS.includes(verb)))) continue;
    const compared = rules.filter(({ resources }) =>
      resources.includes('validatingadmissionpolicies'),
    );
    const policies = compared.flatMap(({ resourceNames = [] }) => resourceNames);
    const itself = [...printedAdmission()].flatMap(([name, { policy }]) =>
      JSON.stringify(policy.spec).includes(`countersign-${component}'`) ? [name] : [],
    );
    assert.deepEqual(
      itself.filter((each) => !policies.includes(each)),
      [],
      component,
    );
  }
});
