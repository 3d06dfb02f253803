// SPDX-License-Identifier: Apache-2.0
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** One file of src, as its imports and its text show it. */
export interface Source {
  /** Relative to src: `policy/review.ts`. */
  readonly path: string;
  readonly text: string;
  /** Files of src, relative to it; type-only and dynamic imports count. */
  readonly imports: readonly string[];
  /** Names of packages and of Node's own modules. */
  readonly packages: readonly string[];
}

const src = join(import.meta.dirname, '../../src');

export function readSources(): readonly Source[] {
  const paths = globSync('**/*.ts', { cwd: src }).sort();
  return paths.map((path) => readSource(path, readFileSync(join(src, path), 'utf8')));
}

export function readSource(path: string, text: string): Source {
  const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const [own, others] = [names.filter(isRelative), names.filter((name) => !isRelative(name))];
  return {
    path,
    text,
    imports: own.map((name) => posix.join(posix.dirname(path), name)),
    packages: others.map(packageOf),
  };
}

/** Everything that is loaded with `path`, itself included. */
export function closureOf(path: string, sources: readonly Source[]): ReadonlySet<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const found = new Set([path]);
  for (const next of found) for (const each of byPath.get(next)?.imports ?? []) found.add(each);
  return found;
}

/** Each circle of imports once, as `a.ts → b.ts → a.ts`, from its first file by name. */
export function circlesOf(sources: readonly Source[]): readonly string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const importsOf = (path: string): readonly string[] => byPath.get(path)?.imports ?? [];
  const found: string[] = [];
  const done = new Set<string>();
  for (const { path } of sources) {
    const way = done.has(path) ? undefined : wayBack(path, importsOf);
    if (way === undefined) continue;
    for (const each of way) done.add(each);
    found.push([...way, path].join(' → '));
  }
  return found;
}

/** The shortest way from a file back to itself, without its end. */
function wayBack(
  path: string,
  importsOf: (path: string) => readonly string[],
): readonly string[] | undefined {
  const ways: (readonly string[])[] = [[path]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of importsOf(way.at(-1) ?? path)) {
      if (next === path) return way;
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return undefined;
}

function isRelative(name: string): boolean {
  return name.startsWith('.');
}

/** `@kubernetes/client-node` of `@kubernetes/client-node/dist/x.js`; `node:` names are kept whole. */
function packageOf(name: string): string {
  if (name.startsWith('node:')) return name;
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}
