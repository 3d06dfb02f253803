// SPDX-License-Identifier: Apache-2.0
/**
 * `node build/compile-cache.ts DIRECTORY` loads the parts of a bundle that each start imports, so
 * that Node writes the code that V8 makes of them to NODE_COMPILE_CACHE. Node takes it only with
 * the same version, V8 flags, user and paths. With `--random-seed=1` the same bundle gives the same
 * bytes, and V8 does not count that flag.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Files named after their sources. The parts that they import follow. */
const ENTRIES = /^(?:run|host|program|usage-errors|config)-[A-Z0-9]+\.mjs$/;
/**
 * Entries that one process loads. With more, V8 collects garbage in old space, and the code that it
 * writes tells how old it was then.
 */
const AT_ONCE = 8;

const [script = import.meta.filename, directory = '.', ...entries] = process.argv.slice(1);
if (entries.length > 0) {
  for (const name of entries) await import(pathToFileURL(resolve(directory, name)).href);
} else {
  const all = readdirSync(directory)
    .filter((name) => ENTRIES.test(name))
    .sort();
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE);
    execFileSync(process.execPath, [...process.execArgv, script, directory, ...some]);
  }
}
