// SPDX-License-Identifier: Apache-2.0
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Takes Node's own modules without their ESM form. For an `import`, Node reads every getter of the
 * module: `node:fs` loads its streams and promises, and `node:http` loads undici for `WebSocket`.
 */
export const builtins: Plugin = {
  name: 'builtins',
  setup: (bundle) => {
    bundle.onResolve({ filter: /^[a-z]/ }, ({ path, kind, importer }) => {
      if (!isBuiltin(path) || kind !== 'import-statement') return undefined;
      // Each importer has its own module. A shared module would be one more file of the bundle.
      return {
        // A relative path, so that builds in other directories give the same bundle.
        path: `${path} of ${relative(ROOT, importer)}`,
        namespace: 'builtin',
        pluginData: path,
      };
    });
    bundle.onLoad({ filter: /^/, namespace: 'builtin' }, ({ pluginData }) => ({
      contents: moduleText(String(pluginData)),
    }));
  },
};

/** Returns a module with the exports of one of Node's. It reads only the imported ones. */
function moduleText(path: string): string {
  const all: unknown = process.getBuiltinModule(path);
  const names = Object.keys(all as object).filter(
    (name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default',
  );
  return [
    `const all = process.getBuiltinModule('${path}');`,
    'export default all;',
    ...names.map((name) => `const $${name} = /* @__PURE__ */ (() => all.${name})();`),
    `export { ${names.map((name) => `$${name} as ${name}`).join(', ')} };`,
  ].join('\n');
}
