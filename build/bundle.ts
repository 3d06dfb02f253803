// SPDX-License-Identifier: Apache-2.0
/** Builds dist/countersign.mjs: the one file that the image ships. */
import { chmod } from 'node:fs/promises';
import { build } from 'esbuild';

await build({
  entryPoints: ['src/cli/main.ts'],
  outfile: 'dist/countersign.mjs',
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Dependencies that are CommonJS call require() of Node's own modules.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  },
  // Names stay, so that a stack trace can be read.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
});
await chmod('dist/countersign.mjs', 0o755);
