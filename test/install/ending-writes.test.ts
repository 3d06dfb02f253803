// SPDX-License-Identifier: Apache-2.0
/** Which updates of a Countersign that is being deleted need no right of its writers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Environment } from '@marcbachmann/cel-js';
import { DEMO } from '../../build/demo-installation.ts';
import { admissionOf } from '#install/admission/policy-list.ts';
import { NOT_ENDING } from '#install/admission/policies.ts';

const cel = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });
const EXPRESSION = String(NOT_ENDING['expression']);

interface Update {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: object;
}

/** An object that waits for the garbage collector. */
const ENDING = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] };
const SPEC = { version: '0.1.0' };

/** Whether the policy judges an update of {@link ENDING}. */
function isJudged({ metadata = {}, spec = SPEC }: Update, before: object = {}): unknown {
  return cel.evaluate(EXPRESSION, {
    request: { operation: 'UPDATE' },
    object: { metadata: { ...ENDING, ...metadata }, spec },
    oldObject: { metadata: { ...ENDING, ...before }, spec: SPEC },
  });
}

test('an update that ends a deletion needs no right: it removes finalizers alone', () => {
  assert.equal(isJudged({ metadata: { finalizers: [] } }), false);
  const kept = { labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences: [{ uid: 'x' }] };
  assert.equal(isJudged({ metadata: { ...kept, finalizers: [] } }, kept), false);
  // What the API server writes itself.
  assert.equal(isJudged({ metadata: { resourceVersion: '2', managedFields: [{}] } }), false);
  // An empty map is what was not there.
  assert.equal(isJudged({ metadata: { labels: {} } }), false);
});

test('an update of anything else is judged, although the object is being deleted', () => {
  assert.equal(isJudged({ spec: { version: '0.2.0' } }), true);
  for (const changed of [
    { labels: { a: 'b' } },
    { annotations: { a: 'b' } },
    { ownerReferences: [{ uid: 'x' }] },
  ]) {
    assert.equal(isJudged({ metadata: { ...changed, finalizers: [] } }), true);
    assert.equal(isJudged({}, changed), true, 'what is removed');
  }
});

test('every write of an object that is not being deleted is judged', () => {
  const of = { metadata: {}, spec: SPEC };
  for (const operation of ['CREATE', 'UPDATE', 'DELETE'])
    assert.equal(
      cel.evaluate(EXPRESSION, {
        request: { operation },
        object: of,
        oldObject: of,
      }),
      true,
    );
});

interface Judging {
  readonly matchConstraints?: {
    readonly resourceRules?: readonly {
      readonly operations: readonly string[];
      readonly resources: readonly string[];
    }[];
  };
  readonly matchConditions?: readonly { readonly name: string }[];
}

test('every kind whose deletion takes a verb of its writer lets the deletion end', () => {
  const judging = [...admissionOf(DEMO).values()].flat().flatMap((each) => {
    const { matchConstraints, matchConditions = [] } = each['spec'] as Judging;
    const names = matchConditions.map(({ name }) => name);
    // These judge the writes of one component alone.
    if (names.some((name) => name.startsWith('only-'))) return [];
    return (matchConstraints?.resourceRules ?? [])
      .filter(({ operations }) => operations.includes('UPDATE') && operations.includes('DELETE'))
      .map(({ resources }) => `${resources.join()} ${names.join()}`);
  });
  assert.deepEqual(judging.sort(), [
    'acmeclustersigners not-ending',
    'clustersigners not-ending',
    'externalclustersigners not-ending',
    'revocations not-ending',
  ]);
});
