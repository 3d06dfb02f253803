// SPDX-License-Identifier: Apache-2.0
/** Builds the files that pages of the console load, and puts them into the program. */
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { ConsoleAssets } from '#console/assets.ts';

const ROOT = join(import.meta.dirname, '..');

/** Bundles the script and the style sheet for browsers. */
export async function buildConsoleAssets(): Promise<ConsoleAssets> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/console/browser/main.ts', 'src/console/browser/style.css'],
    outdir: 'out',
    write: false,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: ['chrome123', 'firefox125', 'safari17.4'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { script: textOf('.js'), style: textOf('.css') };
}

/** Replaces src/console/assets.ts, which has no files, by their texts. */
export const consoleAssets: Plugin = {
  name: 'console-assets',
  setup: (bundle) => {
    bundle.onLoad({ filter: /\/src\/console\/assets\.ts$/ }, async () => ({
      contents: `export const ASSETS = ${JSON.stringify(await buildConsoleAssets())};`,
      loader: 'ts',
    }));
  },
};
