// SPDX-License-Identifier: Apache-2.0
/** What `countersign install` prints of objects that need no change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unchangedLine, type InstalledObject } from '#cli/commands/install/run.ts';

function done(outcome: InstalledObject['outcome'], dryRun = false): InstalledObject {
  return { object: 'namespace/countersign-keys', outcome, dryRun };
}

test('objects that need no change are counted on one line, and the others are not', () => {
  const all = [done('created'), done('unchanged'), done('configured'), done('unchanged')];
  assert.equal(unchangedLine(all), '2 objects unchanged; -o yaml lists all\n');
  const dry = [done('unchanged', true), done('deleted', true)];
  assert.equal(unchangedLine(dry), '1 object unchanged (server dry run); -o yaml lists all\n');
});

test('where every object is created or changed, none is counted', () => {
  assert.equal(unchangedLine([done('created'), done('configured')]), '');
});
