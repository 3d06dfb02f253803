// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');
const PREFIX = 'layer:';

/** Adds imports to sources that only load other sources before them. */
export function addImports(added: ReadonlyMap<string, readonly string[]>): Plugin {
  return {
    name: 'add-imports',
    setup: (bundle) => {
      bundle.onResolve({ filter: /^layer:/ }, ({ path }) => ({
        path: join(ROOT, path.slice(PREFIX.length)),
        sideEffects: true,
      }));
      bundle.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const sources = added.get(relative(ROOT, path));
        if (sources === undefined) return undefined;
        const imports = sources.map((each) => `import '${PREFIX}${each}';\n`).join('');
        return { contents: `${imports}${await readFile(path, 'utf8')}`, loader: 'ts' };
      });
    },
  };
}
