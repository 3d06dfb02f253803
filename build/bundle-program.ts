// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { consoleAssets } from './console-assets.ts';
import { layersOf } from './layers.ts';
import { oldNode } from '#app/version.ts';
import { addImports } from './narrow/add-imports.ts';
import { builtins } from './narrow/builtins.ts';
import { narrowPackages } from './narrow/plugin.ts';

/** Entry of the program. */
export const ENTRY = 'src/cli/main.ts';

/**
 * Ends the program where Node lacks `getBuiltinModule` (before 20.16). Every file starts with it,
 * because the first files call that function before main.ts can check the version.
 */
const CHECK_NODE = `if(!process.getBuiltinModule){console.error(\`countersign: ${oldNode('${process.versions.node}')}\`);process.exit(1)}`;
/** Provides require(), which CommonJS dependencies call for Node's own modules. */
const REQUIRE =
  "const require = (id) => process.getBuiltinModule(id) ?? process.getBuiltinModule('node:module').createRequire(import.meta.url)(id);";

const OPTIONS = {
  absWorkingDir: join(import.meta.dirname, '..'),
  entryPoints: { countersign: ENTRY },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  chunkNames: 'countersign/[name]-[hash]',
  bundle: true,
  splitting: true,
  metafile: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Node's own build defines this name to omit undici's second HTTP parser.
  define: { esbuildDetection: 'true' },
  banner: { js: `${CHECK_NODE}\n${REQUIRE}` },
  // Keeps names, so that people can read a stack trace.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  // The imports that add-imports.ts adds use no export.
  logOverride: { 'ignored-bare-import': 'silent' },
} as const satisfies BuildOptions;

/**
 * Bundles the program: the file that starts, and a file for each part that several commands share
 * or that a command imports later.
 *
 * @param write - false: writes no file
 * @returns the inputs and imports of each file
 */
export async function bundleProgram({ write }: { readonly write: boolean }): Promise<Metafile> {
  const { metafile } = await build({
    ...OPTIONS,
    write: false,
    plugins: [narrowPackages, builtins, consoleAssets],
  });
  const plugins = [narrowPackages, builtins, consoleAssets, addImports(layersOf(metafile))];
  const layered = await build({ ...OPTIONS, write, plugins });
  return layered.metafile;
}
