// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removalText } from '#cli/commands/install/removal-text.ts';
import type { InstalledObject } from '#cli/commands/install/run.ts';

const of = (object: string, outcome: InstalledObject['outcome']): InstalledObject => ({
  object,
  outcome,
  dryRun: false,
});
const policies = Array.from({ length: 84 }, (_none, index) =>
  of(`validatingadmissionpolicy/p-${index}`, 'deleted'),
);

test('deleted objects of a kind with many are counted, and the kept ones come last', () => {
  const done = [
    of('deployment/countersign-signer -n a', 'deleted'),
    of('namespace/a', 'kept'),
    ...policies,
    of('lease/x -n a', 'deleted'),
  ];
  assert.equal(
    removalText(done),
    [
      'deployment/countersign-signer -n a deleted',
      '84 objects of kind validatingadmissionpolicy deleted; uninstall -o name prints every name instead',
      'lease/x -n a deleted',
      'namespace/a kept',
      '',
    ].join('\n'),
  );
});

test('each kept object is named, however many there are', () => {
  const kept = Array.from({ length: 40 }, (_none, index) => of(`secret/s-${index}`, 'kept'));
  assert.equal(removalText(kept).trimEnd().split('\n').length, 40);
});

test('a dry run is named in a count', () => {
  const done = policies.map((each) => ({ ...each, dryRun: true }));
  assert.match(removalText(done), /^84 objects .* deleted \(server dry run\); uninstall -o name/);
});
