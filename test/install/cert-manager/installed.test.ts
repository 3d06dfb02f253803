// SPDX-License-Identifier: Apache-2.0
/** What an administrator applies for the operator of cert-manager. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { deployFiles } from '../../../build/deploy-files.ts';
import { CERT_MANAGER_NAMESPACE } from '#api/operator/cert-manager-deployment.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { admissionDifferences, type LiveAdmission } from '#install/admission/compare.ts';
import { admissionRisk } from '#install/admission/risks.ts';
import { certManagerOperatorManifests } from '#install/cert-manager-operator/installed.ts';

const NAME = 'countersign-cert-manager-operator';
const SETTINGS = { moreReleases: {}, dangerZone: false };

const OPERATOR = certManagerOperatorManifests({
  namespace: CERT_MANAGER_NAMESPACE,
  image: 'i',
  version: '0.1.0',
  ...SETTINGS,
}) as unknown as readonly Placed[];

interface Placed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly rules?: readonly PermissionRule[];
}

test('only it of our components is in its token’s namespace; no other role reaches in', () => {
  const namespace = CERT_MANAGER_NAMESPACE;
  const files = [...deployFiles()].flatMap(([path, text]) =>
    parseAllDocuments(text).map((each) => ({ path, object: each.toJS() as Placed })),
  );
  const inside = files.filter(({ object }) => object.metadata.namespace === namespace);
  assert.deepEqual(new Set(inside.map(({ object }) => object.metadata.name)), new Set([NAME]));
  const kinds = ['ServiceAccount', 'Role', 'RoleBinding', 'Deployment'];
  assert.deepEqual(new Set(inside.map(({ object }) => object.kind)), new Set(kinds));
  // In the whole cluster, only it and cert-manager itself have what becomes a token there.
  const reaching = files.filter(
    ({ object: { kind, rules = [] } }) =>
      kind === 'ClusterRole' &&
      rules.some(
        ({ resources, verbs, resourceNames }) =>
          resources.some((each) =>
            ['pods', 'deployments', 'serviceaccounts/token'].includes(each),
          ) &&
          verbs.some((each) => ['create', 'update'].includes(each)) &&
          resourceNames === undefined,
      ),
  );
  assert.deepEqual([...new Set(reaching.map(({ object }) => object.metadata.name))], [NAME]);
});

test('its own manifests have every policy that it compares, and they compare equal', () => {
  const compared = OPERATOR.flatMap(({ rules = [] }) => rules)
    .filter(({ resources }) => resources.includes('validatingadmissionpolicies'))
    .flatMap(({ resourceNames = [] }) => resourceNames);
  const named = (kind: string, name: string): Placed | undefined =>
    OPERATOR.find((each) => each.kind === kind && each.metadata.name === name);
  const context = {
    namespace: CERT_MANAGER_NAMESPACE,
    secretNamespace: 'x',
    signerNames: [],
  };
  assert.equal(compared.length, 2);
  for (const name of compared) {
    const live = {
      policy: named('ValidatingAdmissionPolicy', name),
      binding: named('ValidatingAdmissionPolicyBinding', name),
    } as LiveAdmission;
    assert.deepEqual(admissionDifferences(name, live, context), []);
    assert.doesNotMatch(admissionRisk(name), /the objects that it guards are unprotected/);
    // One for another namespace holds nobody.
    if (name.endsWith('-events'))
      assert.notDeepEqual(admissionDifferences(name, live, { ...context, namespace: 'other' }), []);
  }
});

test('its permissions to write have names, and there is no wildcard, escalate or bind', () => {
  const rules = OPERATOR.flatMap((each) => each.rules ?? []);
  for (const { verbs, resources, apiGroups } of rules)
    for (const each of [...verbs, ...resources, ...apiGroups])
      assert.ok(!['*', 'escalate', 'bind', 'impersonate'].includes(each), each);
  const written = ['deployments', 'clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
  const writing = rules.filter(
    ({ verbs, resources }) =>
      verbs.includes('create') && resources.some((each) => written.includes(each)),
  );
  assert.ok(writing.length > 0);
  for (const { resourceNames = [] } of writing) assert.ok(resourceNames.length > 0);
});
