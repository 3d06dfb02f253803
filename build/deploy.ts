// SPDX-License-Identifier: Apache-2.0
/**
 * Writes rbac/ and deploy/ for the demo's names, and the data of the operator. test/architecture
 * compares them.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deployFiles } from './deploy-files.ts';
import { definitionsJson, flagSchemasJson, knownFieldsJson } from './operator/definitions.ts';

const root = join(import.meta.dirname, '..');
const carried = join(root, 'src/install/operator');
await writeFile(join(carried, 'definitions.json'), await definitionsJson());
await writeFile(join(carried, 'known-fields.json'), await knownFieldsJson());
await writeFile(join(carried, 'flag-schemas.json'), await flagSchemasJson());
for (const [path, text] of deployFiles()) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}
