// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign install` makes what `countersign manifests` prints, so the same advice heals both.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { plannedObjects } from '#cli/commands/install/plan-objects.ts';
import { installerOf } from '#diagnose/check/installer.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { FULL } from '../../helm/full-values.ts';
import { MAIN } from '../../support/cluster/countersign.ts';

const directory = mkdtempSync(join(tmpdir(), 'same-objects-'));
after(() => {
  rmSync(directory, { recursive: true });
});

test('install applies what manifests prints, and the signer of own ports as well', async () => {
  const file = join(directory, 'values.json');
  writeFileSync(file, JSON.stringify(FULL));
  const args = [MAIN, 'manifests', '--values', file];
  const text = execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const printed = parseAllDocuments(text).map((each) => each.toJS() as ManagedObject);
  const left = new Map(printed.map((each) => [titleOf(each), each]));
  const objects = await plannedObjects([file]);
  const others = objects.filter((each) => {
    const title = titleOf(each);
    const same = isDeepStrictEqual(left.get(title), JSON.parse(JSON.stringify(each)));
    if (same) left.delete(title);
    return !same;
  });
  // Its definition comes with the others, so that kubectl applies it afterwards.
  assert.deepEqual(others.map(titleOf), ['ClusterSigner serving']);
  assert.deepEqual([...left.keys()], []);
  assert.deepEqual(installerOf(objects.map(({ metadata }) => metadata)), { kind: 'manifests' });
});
