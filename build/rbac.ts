// SPDX-License-Identifier: Apache-2.0
/** Writes rbac/ and deploy/admission/ anew for the demo's names; test/architecture compares them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEMO } from './demo-installation.ts';
import { renderAdmission, renderRbac } from '../src/manifests/render.ts';

const root = join(import.meta.dirname, '..');
for (const [folder, files] of [
  ['rbac', renderRbac(DEMO)],
  ['deploy/admission', renderAdmission(DEMO)],
] as const) {
  for (const [name, text] of files) await writeFile(join(root, folder, name), text);
}
