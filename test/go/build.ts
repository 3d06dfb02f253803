// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { checkGo, goBuild } from './tool.ts';

/** A day: what was not asked for in it is nobody's any more. */
const KEPT_MILLISECONDS = 86_400_000;
const CACHE = join(import.meta.dirname, '../../.cache');

/** A Go program that tests run: one module of its own. */
export interface GoProgram {
  /** The file; also its room in .cache. */
  readonly name: string;
  /** One of several that share the room, each kept beside the others. */
  readonly variant?: string;
  readonly moduleDirectory: string;
  /** Which files of the module's directory it is made of; all if left out. */
  readonly files?: (name: string) => boolean;
  /** Somebody else's command, which the module names as a tool; the module's own if left out. */
  readonly command?: string;
  /** Its build beside others' work is not to take the machine. */
  readonly onePackageAtATime?: boolean;
  /** Of `go build`, besides those of every program. */
  readonly flags?: readonly string[];
  /** Strings that the linker sets, by the path and name of the variable. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What is said before it is built. */
  readonly words: string;
}

/** The path of a program; it is built only when its sources or flags have changed. */
export async function buildGoProgram(
  program: GoProgram,
  log: (line: string) => void,
): Promise<string> {
  const { name, variant = name, moduleDirectory, command = '.' } = program;
  const flags = flagsOf(program);
  const room = join(CACHE, name);
  const version = `${variant}-${hashOf(program, flags)}`;
  const target = join(room, version, name);
  if (existsSync(target)) {
    const now = new Date();
    utimesSync(join(room, version), now, now);
    return target;
  }
  await checkGo(moduleDirectory);
  log(program.words);
  mkdirSync(room, { recursive: true });
  const building = join(room, `building-${variant}-${process.pid}`);
  try {
    await goBuild(moduleDirectory, { target: join(building, name), flags, command }, log);
    moveIntoPlace(building, join(room, version), name);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  removeUnused(room, variant);
  return target;
}

/** Other versions may be other work trees' that share the room. */
function removeUnused(room: string, variant: string): void {
  for (const name of readdirSync(room)) {
    const other = join(room, name);
    if (name.startsWith(`${variant}-`) && Date.now() - statSync(other).mtimeMs > KEPT_MILLISECONDS)
      rmSync(other, { recursive: true, force: true });
  }
}

/**
 * The programs are the same wherever they are built, and nobody debugs them: they need no symbols.
 */
function flagsOf({
  onePackageAtATime = false,
  flags = [],
  variables = {},
}: GoProgram): readonly string[] {
  const links = Object.entries(variables).map(([path, value]) => `-X ${path}=${value}`);
  const pace = onePackageAtATime ? ['-p=1'] : [];
  return [...pace, '-trimpath', ...flags, `-ldflags=${['-s -w', ...links].join(' ')}`];
}

function hashOf(
  { moduleDirectory, files = () => true }: GoProgram,
  flags: readonly string[],
): string {
  const hash = createHash('sha256').update(flags.join('\0'));
  const used = readdirSync(moduleDirectory).sort().filter(files);
  const contents = used.map((file) => readFileSync(join(moduleDirectory, file)));
  for (const [index, file] of used.entries())
    hash.update(`\0${file}\0`).update(contents[index] ?? '');
  for (const directory of localModules(contents.join('\n')))
    for (const file of readdirSync(join(moduleDirectory, directory)).sort())
      hash.update(`\0${file}\0`).update(readFileSync(join(moduleDirectory, directory, file)));
  return hash.digest('hex').slice(0, 12);
}

/** Directories that a module file's `replace` lines name. */
function localModules(text: string): readonly string[] {
  const found = [...text.matchAll(/^(?:replace )?\s*\S+ => (\.\.?\/\S+)$/gm)];
  return [...new Set(found.map(([, directory = '']) => directory))].sort();
}

function moveIntoPlace(from: string, to: string, name: string): void {
  // A file of that name is of an older checkout, which kept programs without a directory of their
  // own.
  if (existsSync(to) && !existsSync(join(to, name))) rmSync(to, { recursive: true });
  try {
    renameSync(from, to);
  } catch (error) {
    // Somebody else built the same sources meanwhile.
    if (!existsSync(join(to, name))) throw error;
  }
}
