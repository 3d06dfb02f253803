// SPDX-License-Identifier: Apache-2.0
/** Writes rbac/ and deploy/ anew for the demo's names; test/architecture/deploy.test.ts compares them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deployFiles } from './deploy-files.ts';

const root = join(import.meta.dirname, '..');
for (const [path, text] of deployFiles()) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}
