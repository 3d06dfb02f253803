// SPDX-License-Identifier: Apache-2.0
/** What `countersign check` says of an admission policy that somebody edited. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '#diagnose/check/finding.ts';
import type { LiveAdmission } from '#install/admission/compare.ts';
import type { Manifest } from '#install/roles.ts';
import { findingsOf, installed } from './well.ts';

const NAME = 'countersign-cluster-signers';

function edited(edit: (live: LiveAdmission) => LiveAdmission): readonly Finding[] {
  assert.ok('value' in installed.policies);
  const live = installed.policies.value.get(NAME);
  assert.ok(live !== undefined);
  const policies = new Map([...installed.policies.value, [NAME, edit(live)]]);
  return findingsOf('policies-equal', { installed: { policies: { value: policies } } });
}

const withSpec = (spec: Manifest) => (live: LiveAdmission) => ({
  ...live,
  policy: { spec: { ...live.policy?.spec, ...spec } },
});

test('a policy that differs in one place has a line with the place', () => {
  const [found, ...more] = edited(withSpec({ failurePolicy: 'Ignore' }));
  assert.deepEqual(more, []);
  // What it guards against is possible until it is put back: that is no warning.
  assert.equal(found?.severity, 'error');
  assert.match(
    found.why,
    /^ValidatingAdmissionPolicy countersign-cluster-signers: spec\.failurePolicy \S+[^;]*: a user without the verbs/,
  );
});

test('reports a policy that differs in many places on one line, with a count', () => {
  const findings = edited((live) => ({
    ...withSpec({ failurePolicy: 'Ignore', matchConstraints: {}, validations: [] })(live),
    binding: undefined,
  }));
  assert.deepEqual(
    findings.map(({ subject }) => subject),
    [`validatingadmissionpolicy/${NAME}`],
  );
  const why = findings[0]?.why ?? '';
  assert.match(why, /^ValidatingAdmissionPolicy countersign-cluster-signers: spec\.[^;]+; spec\./);
  assert.match(why, /; and \d+ more: a user without the verbs sign and attest/);
  // The name is said once, and so is what the policy guards.
  for (const once of [NAME, 'sign and attest']) assert.equal(why.split(once).length, 2, why);
});
