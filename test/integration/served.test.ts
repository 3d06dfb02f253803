// SPDX-License-Identifier: Apache-2.0
/**
 * Green means served: a signer's conditions say which component does not serve it, and why. How
 * soon a component sees it is a law of test/component/rbac.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import { until } from '../cluster/until.ts';
import { BUNDLE, countersign } from '../support/cluster/countersign.ts';
import type { ComponentName } from '../support/cluster/component-process.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { eachVerb, withoutVerb, type GrantedVerb } from '../support/cluster/roles.ts';

const WAIT_MS = 120_000;

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  for (const name of ['workload', 'people']) await served(name, 'True');
});
after(() => fixture.stop());

/** The condition Served once it has this status. */
function served(name: string, status: string): Promise<Condition> {
  return until(`${name} Served=${status}`, WAIT_MS, async () => {
    const found = await conditionOf(name, 'Served');
    if (found?.status === status) return found;
    throw new Error(`it is ${found?.status ?? 'absent'}: ${found?.message ?? ''}`);
  });
}

async function conditionOf(name: string, type: string): Promise<Condition | undefined> {
  const { status } = await getSigner(fixture.cluster, name);
  return findCondition(status?.conditions, type);
}

function verbOf(component: ComponentName, verb: string, resource: string): GrantedVerb {
  const found = eachVerb().find(
    (each) => each.component === component && each.verb === verb && each.resource === resource,
  );
  assert.ok(found !== undefined, `${component} has no ${verb} ${resource}`);
  return found;
}

/** deploy/examples: workload has pods and a bundle, people has requests only. */
const cases: readonly (readonly [ComponentName, string, string, readonly string[]])[] = [
  ['pcr-issuer', 'sign', 'signers', ['workload']],
  ['pcr-issuer', 'watch', 'podcertificaterequests', ['workload']],
  ['signer', 'get', 'secrets', ['people']],
  ['approver', 'approve', 'signers', ['people']],
  ['attester', 'update', 'clustertrustbundles', ['workload']],
];
for (const [component, verb, resource, theirs] of cases) {
  test(`${component}, no ${verb} ${resource}: ${theirs.join(' and ')} fail and recover`, async () => {
    const others = ['workload', 'people'].filter((each) => !theirs.includes(each));
    const restore = await withoutVerb(fixture.cluster, verbOf(component, verb, resource));
    const begun = performance.now();
    try {
      for (const name of theirs) {
        const { reason, message = '' } = await served(name, 'False');
        assert.equal(reason, 'MissingPermissions');
        assert.match(message, new RegExp(`${component}: .*lacks: ${verb} .*${resource}`));
        assert.equal((await conditionOf(name, 'Ready'))?.reason, 'NotServed');
      }
      const red = performance.now() - begun;
      for (const name of others) {
        assert.equal((await conditionOf(name, 'Served'))?.status, 'True', name);
        assert.equal((await conditionOf(name, 'Ready'))?.status, 'True', name);
      }
      await restore();
      const restored = performance.now();
      for (const name of theirs) await served(name, 'True');
      const green = performance.now() - restored;
      console.log(
        `${component} ${verb}: red after ${red.toFixed(0)} ms, green after ${green.toFixed(0)} ms`,
      );
    } finally {
      await restore();
    }
    for (const name of theirs) assert.equal((await conditionOf(name, 'Ready'))?.status, 'True');
  });
}

test('countersign rbac names the signers it would drop; --from-cluster includes them', async () => {
  const { kubeconfig } = fixture.cluster;
  const print = (...args: readonly string[]): ReturnType<typeof countersign> =>
    countersign(['rbac', '--kubeconfig', kubeconfig, ...args], undefined, BUNDLE);
  const mine = await print('--signer', 'example.com/mesh');
  assert.equal(mine.code, 0);
  assert.match(mine.stderr, /also have example\.com\/people, example\.com\/workload/);
  const all = await print('--signer', 'example.com/mesh', '--from-cluster');
  assert.doesNotMatch(all.stderr, /warning/);
  const names = ['people', 'workload', 'mesh'].map((each) => `example.com/${each}`);
  for (const name of names) assert.ok(all.stdout.includes(`- ${name}\n`), name);
  assert.match(all.stdout, /- people-ca\n/);
});

test('with a component gone, the signers that need it say so; the others stay green', async () => {
  const { components } = fixture.installation;
  await components['pcr-issuer'].stop();
  const { reason, message = '' } = await served('workload', 'False');
  assert.equal(reason, 'ComponentDown');
  assert.match(message, /no replica of pcr-issuer is alive/);
  assert.equal((await conditionOf('people', 'Ready'))?.status, 'True');
});
