// SPDX-License-Identifier: Apache-2.0
/** Which managed fields `install` takes over from the operator, without a conflict. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takenOver } from '#cli/commands/install/hand-over.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';

const SPEC = { 'f:spec': { 'f:versions': {} } };
const METADATA = { 'f:metadata': { 'f:labels': { 'f:a': {} } } };

interface Entry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

/** A definition whose fields these managers wrote. */
function definition(...managedFields: readonly Entry[]): ManagedObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'clustersigners.countersign.dev', uid: 'u', managedFields },
  };
}

const REFUSING = { forceConflicts: false };
const OPERATOR = 'countersign-operator';

test('what the operator corrected by a patch is taken over with what it applied', () => {
  const taken = takenOver(
    definition(
      { manager: OPERATOR, operation: 'Apply', fieldsV1: METADATA },
      { manager: OPERATOR, operation: 'Update', fieldsV1: SPEC },
    ),
    REFUSING,
  );
  assert.deepEqual(taken, [
    { manager: 'countersign-install', operation: 'Apply', fieldsV1: { ...METADATA, ...SPEC } },
  ]);
});

test('a definition that the operator only corrected is taken over as well', () => {
  const taken = takenOver(
    definition({ manager: OPERATOR, operation: 'Update', fieldsV1: SPEC }),
    REFUSING,
  );
  assert.deepEqual(taken, [{ manager: 'countersign-install', operation: 'Apply', fieldsV1: SPEC }]);
});

test('the edit of a person, a status and the fields of other programs stay theirs', () => {
  const others: readonly Entry[] = [
    { manager: 'kubectl', operation: 'Update', fieldsV1: SPEC },
    { manager: OPERATOR, operation: 'Update', subresource: 'status', fieldsV1: SPEC },
    { manager: 'kube-apiserver', operation: 'Update', fieldsV1: SPEC },
  ];
  assert.equal(takenOver(definition(...others), { forceConflicts: true }), undefined);
});

/** A binding, which `countersign rbac` prints, with these labels and managers. */
function binding(
  labels: Readonly<Record<string, string>>,
  ...managedFields: readonly Entry[]
): ManagedObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'countersign-signer', uid: 'u', labels, managedFields },
  };
}

const NAME = { 'app.kubernetes.io/name': 'countersign' };
const SUBJECTS = { 'f:subjects': {} };
const APPLIED: readonly Entry[] = [
  { manager: 'kubectl', operation: 'Apply', fieldsV1: SUBJECTS },
  { manager: 'kubectl-client-side-apply', operation: 'Update', fieldsV1: SUBJECTS },
];

test('what kubectl applied of the output of rbac is taken over by its own installation', () => {
  for (const entry of APPLIED) {
    const isOwn = { forceConflicts: false, isOwn: true };
    assert.deepEqual(takenOver(binding(NAME, entry), isOwn), [
      { manager: 'countersign-install', operation: 'Apply', fieldsV1: SUBJECTS },
    ]);
    // An installation of kubectl, another program's object, and that of an operator.
    assert.equal(takenOver(binding(NAME, entry), REFUSING), undefined);
    assert.equal(takenOver(binding({}, entry), isOwn), undefined);
    const operator = { ...NAME, 'app.kubernetes.io/component': 'operator' };
    assert.equal(takenOver(binding(operator, entry), isOwn), undefined);
    const labelled = definition(entry);
    const own = { ...labelled, metadata: { ...labelled.metadata, labels: NAME } };
    assert.equal(takenOver(own, isOwn), undefined);
  }
});
