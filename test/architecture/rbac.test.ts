// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { renderAdmission, renderRbac, type Files } from '../../src/manifests/render.ts';

const root = join(import.meta.dirname, '../..');
const again = 'is not what countersign rbac prints for the demo; write it anew with make rbac';

function shipped(folder: string): string[] {
  return readdirSync(join(root, folder)).filter((file) => file !== 'kustomization.yaml');
}

const folders: [folder: string, files: Files][] = [
  ['rbac', renderRbac(DEMO)],
  ['deploy/admission', renderAdmission(DEMO)],
];

for (const [folder, files] of folders) {
  for (const [file, text] of files) {
    test(`${folder}/${file} is what its permissions make of it`, () => {
      assert.equal(
        readFileSync(join(root, folder, file), 'utf8'),
        text,
        `${folder}/${file} ${again}`,
      );
    });
  }

  test(`${folder} holds no file that nobody prints`, () => {
    assert.deepEqual(shipped(folder).sort(), [...files.keys()].sort());
  });
}

test('every controller has its permissions.ts, and its roles', () => {
  const controllers = readdirSync(join(root, 'src/controllers'));
  assert.deepEqual(
    controllers.map((each) => `${each}.yaml`).sort(),
    [...renderRbac(DEMO).keys()].sort(),
  );
});
