// SPDX-License-Identifier: Apache-2.0
/**
 * Runs several test files in one process: `node test/unit/group.ts FILE…`.
 *
 * A process that loads Node, the sources and one test file takes longer than most test files. Each
 * file gets a suite of its own, so its hooks run only for its tests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import '../support/fixed-seed.ts';

const ROOT = join(import.meta.dirname, '../..');
const IMPORTED = /^(?:import|export) (?!type )(?:[^;]*? from )?'([.#][^']+)';$/gm;

const files = process.argv.slice(2).map((name) => ({ name, path: join(ROOT, name) }));

// What the files import is loaded first: a module that awaits at its top level would evaluate all
// files that import it in the suite of the first one.
for (const { path } of files) {
  for (const [, imported = ''] of readFileSync(path, 'utf8').matchAll(IMPORTED)) {
    await import(imported.startsWith('#') ? imported : new URL(imported, pathToFileURL(path)).href);
  }
}
for (const { name, path } of files) {
  void describe(name, async () => {
    await import(path);
  });
}
