// SPDX-License-Identifier: Apache-2.0
/**
 * What `countersign operator plan` says of objects that somebody else has made: before anything is
 * adopted.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  plannedChange,
  planText,
  type PlannedChange,
} from '#cli/commands/operator/planned-changes.ts';
import { planObject } from '#kube/apply/objects/plan-object.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { marked, type Owner } from '#kube/apply/objects/mark.ts';
import { DESIRED } from '../operator/stand.ts';

const OWNER: Owner = {
  apiVersion: 'operator.countersign.dev/v1alpha1',
  kind: 'Countersign',
  name: 'cluster',
  uid: 'the-uid',
  label: 'countersign',
};

/** As Helm makes it. */
function released({ metadata, ...object }: ManagedObject): ManagedObject {
  const release = { 'meta.helm.sh/release-name': 'pki', 'meta.helm.sh/release-namespace': 'x' };
  const labels = { ...metadata.labels, 'app.kubernetes.io/managed-by': 'Helm' };
  const annotations = { ...metadata.annotations, ...release };
  return { ...object, metadata: { ...metadata, uid: metadata.name, labels, annotations } };
}

function planned(live: (desired: ManagedObject) => ManagedObject): readonly PlannedChange[] {
  return DESIRED.flatMap((each) => {
    const wanted = marked(each, OWNER);
    const there = live(each);
    return plannedChange(planObject(wanted, there), there, OWNER) ?? [];
  });
}

test('plan reports the Helm objects it adopts and how many a deletion would remove', () => {
  const changes = planned(released);
  const text = planText({ changes, same: 0 });
  // What is only made where it is missing is left as it is, and to whom it belongs.
  const merged = DESIRED.filter((each) => ruleOf(each).care === 'merged');
  assert.deepEqual(
    changes.map(({ object }) => object),
    merged.map(titleOf),
  );
  for (const { action, from } of changes)
    assert.deepEqual([action, from], ['adopt', 'Helm release pki']);
  const owned = merged.filter((each) => ruleOf(each).owned);
  assert.ok(owned.length > 0 && owned.length < merged.length);
  assert.match(
    text,
    new RegExp(
      `^WARNING: ${owned.length} adopted objects belong to this object from then on: deleting it deletes them`,
      'm',
    ),
  );
  assert.match(
    text,
    /^adopt {3}Deployment countersign-system\/countersign-signer {2}from Helm release pki$/m,
  );
});

test('objects of its own, and a plan of nothing but what stays, have no such warning', () => {
  const own = planned((each) =>
    marked({ ...each, metadata: { ...each.metadata, uid: 'a' } }, OWNER),
  );
  assert.doesNotMatch(planText({ changes: own, same: 0 }), /WARNING|adopt/);
  const staying = planned(released).filter(({ owned }) => owned !== true);
  assert.doesNotMatch(planText({ changes: staying, same: 0 }), /WARNING/);
});
