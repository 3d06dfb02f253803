// SPDX-License-Identifier: Apache-2.0
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What building takes besides Node and npm: the program, and what it is for. */
const TOOLS = {
  buildah: 'builds the image',
  strip: 'takes the symbols from the stand-in’s Node; it comes with binutils',
} as const;

/** What is not installed, each with the reason why it is wanted. */
export function missingTools(): string[] {
  return Object.entries(TOOLS)
    .filter(([name]) => findProgram(name) === undefined)
    .map(([name, reason]) => `${name}: ${reason}`);
}

/** The file, behind all links, that a program's name on PATH leads to. */
export function findProgram(name: string): string | undefined {
  for (const place of (process.env['PATH'] ?? '').split(delimiter)) {
    const file = join(place, name);
    if (isExecutable(file)) return realpathSync(file);
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
