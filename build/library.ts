// SPDX-License-Identifier: Apache-2.0
/**
 * Builds dist/library, which `import … from 'countersign'` loads: one file of code, and the types
 * that the public ones refer to. The code imports the dependencies of the package.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const EMITTED = join(ROOT, '.cache/library-types');
const TYPES = join(ROOT, 'dist/library/types');

/** Omits the code of components: the library reads their descriptors, and starts none. */
const withoutComponents: Plugin = {
  name: 'without-components',
  setup: (bundle) => {
    bundle.onResolve({ filter: /^\.\/run\.ts$/ }, ({ importer }) =>
      basename(importer) === 'component.ts' ? { path: 'none', namespace: 'component' } : undefined,
    );
    bundle.onLoad({ filter: /^/, namespace: 'component' }, () => ({ contents: '' }));
  },
};

await build({
  absWorkingDir: ROOT,
  plugins: [withoutComponents],
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

/** Import of a file of this project: a relative path, or `#room/…`, which the package lacks. */
const IMPORT = /(from\s+'|import\(')([.#][^']+)\.ts'/g;
const waiting = ['library/index'];
const seen = new Set<string>();
for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
  if (seen.has(name)) continue;
  seen.add(name);
  const text = readFileSync(join(EMITTED, `${name}.d.ts`), 'utf8');
  for (const [, , path = ''] of text.matchAll(IMPORT)) waiting.push(targetOf(name, path));
  const file = join(TYPES, `${name}.d.ts`);
  mkdirSync(dirname(file), { recursive: true });
  // TypeScript finds types beside the code that a specifier names. The package has no .ts code.
  const written = text.replaceAll(IMPORT, (_all, before: string, path: string) => {
    const target = relative(dirname(name), targetOf(name, path));
    return `${before}${target.startsWith('.') ? target : `./${target}`}.js'`;
  });
  writeFileSync(file, written);
}

/** Resolves the `path` that the file `name` imports, relative to src and without the ending. */
function targetOf(name: string, path: string): string {
  return path.startsWith('#') ? path.slice(1) : join(dirname(name), path);
}
