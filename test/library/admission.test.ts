// SPDX-License-Identifier: Apache-2.0
/** Who may make the PodCertificateRequests that an author’s process answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { defineAuthority, roles, type AuthorityType } from '#library/index.ts';
import { libraryPermissions } from '#library/permissions.ts';
import { admissionDifferences, isReliedOn } from '#install/admission/compare.ts';
import { admissionRisk } from '#install/admission/risks.ts';

type Definition = Parameters<typeof defineAuthority>[0];

function authority(more: Partial<Definition> = {}): AuthorityType {
  return defineAuthority({
    name: 'test-ca',
    issuer: { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' },
    schema: { parse: (value) => value },
    check: () => Promise.resolve(),
    sign: () => Promise.reject(new Error('not called')),
    ...more,
  });
}

const NAME = 'countersign-pod-certificate-requests-test-ca';

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Record<string, unknown>;
}

function printed(of: AuthorityType, signerNames: readonly string[]): readonly Printed[] {
  const text = roles(of, { signerNames, namespace: 'ca-system' });
  return parseAllDocuments(text).map((each) => each.toJSON() as Printed);
}

function differences(all: readonly Printed[], signerNames: readonly string[]): readonly string[] {
  const [policy, binding] = all.filter(({ metadata }) => metadata.name === NAME);
  const context = { namespace: 'ca-system', secretNamespace: 'keys', signerNames };
  return admissionDifferences(NAME, { policy, binding }, context);
}

test('roles() prints the policy that lets only kubelets make the answered requests', () => {
  const names = ['testissuers.example.com/one'];
  const all = printed(authority(), names);
  assert.deepEqual(differences(all, names), []);
  assert.match(differences(all, ['testissuers.example.com/two']).join(), /does not name .*two/);
  assert.match(differences([], names).join(), /is not installed/);
});

test('of a namespaced kind the policy guards the names of issuers to come', () => {
  const namespaced = authority({ issuer: { ...authority().issuer, namespaced: true } });
  const all = printed(namespaced, ['testissuers.example.com/team-a.one']);
  assert.deepEqual(differences(all, ['testissuers.example.com/team-b.new']), []);
});

test('a process that answers no PodCertificateRequests has no such policy', () => {
  const all = printed(authority({ requests: ['CertificateSigningRequest'] }), ['example.com/one']);
  assert.deepEqual(
    all.filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy')),
    [],
  );
});

test('the process checks its own policy, even without issuers, and says why', () => {
  const rules = libraryPermissions(authority(), {
    signerNames: [],
    secrets: [],
    leases: undefined,
  });
  const policies = rules.filter(({ resources }) => resources[0] === 'validatingadmissionpolicies');
  assert.deepEqual(
    policies.map(({ resourceNames }) => resourceNames),
    [[NAME]],
  );
  const context = { namespace: undefined, secretNamespace: undefined, signerNames: [] };
  assert.ok(isReliedOn(NAME, context));
  assert.match(admissionRisk(NAME), /may invent the pod/);
});
