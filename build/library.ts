// SPDX-License-Identifier: Apache-2.0
/**
 * Builds dist/library: what `import … from 'countersign'` gets. One file of code, whose dependencies
 * are the package's own; and the types, as far as the public ones reach.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const EMITTED = join(ROOT, '.cache/library-types');
const TYPES = join(ROOT, 'dist/library/types');

await build({
  absWorkingDir: ROOT,
  entryPoints: ['src/library/index.ts'],
  outfile: 'dist/library/index.mjs',
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
});

rmSync(EMITTED, { recursive: true, force: true });
rmSync(TYPES, { recursive: true, force: true });
const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.library.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);

const IMPORT = /(from\s+'|import\(')(\.[^']+)\.ts'/g;
const waiting = ['library/index'];
const seen = new Set<string>();
for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
  if (seen.has(name)) continue;
  seen.add(name);
  const text = readFileSync(join(EMITTED, `${name}.d.ts`), 'utf8');
  for (const [, , path = ''] of text.matchAll(IMPORT)) waiting.push(join(dirname(name), path));
  const file = join(TYPES, `${name}.d.ts`);
  mkdirSync(dirname(file), { recursive: true });
  // Types are found beside the code that a specifier names, and there is none of .ts to be found.
  writeFileSync(file, text.replaceAll(IMPORT, "$1$2.js'"));
}
