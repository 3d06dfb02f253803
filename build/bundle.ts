// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the program that the image ships. dist/countersign.mjs starts, and imports the parts that
 * a command needs from dist/countersign/.
 */
import { chmod, rm } from 'node:fs/promises';
import { bundleProgram } from './bundle-program.ts';

await rm('dist/countersign', { recursive: true, force: true });
await bundleProgram({ write: true });
await chmod('dist/countersign.mjs', 0o755);
