// SPDX-License-Identifier: Apache-2.0
/**
 * Writes rbac/ and deploy/ anew for the demo's names, and what the operator carries with it; test/architecture compares.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deployFiles } from './deploy-files.ts';
import { definitionsJson, mouldsJson } from './operator/definitions.ts';

const root = join(import.meta.dirname, '..');
const carried = join(root, 'src/manifests/operator');
await writeFile(join(carried, 'definitions.json'), await definitionsJson());
await writeFile(join(carried, 'moulds.json'), await mouldsJson());
for (const [path, text] of deployFiles()) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}
